"""What people look at: pages, videos and leaderboards."""
