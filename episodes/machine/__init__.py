"""What this machine has and lacks, and the command that brings it."""
