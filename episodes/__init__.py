"""Running, recording, scoring, replaying and showing episodes."""
