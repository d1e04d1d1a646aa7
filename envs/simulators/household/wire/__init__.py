"""AI2-THOR's wire protocol: requests in; metadata and images out."""
