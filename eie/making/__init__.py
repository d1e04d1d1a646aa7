"""From authors to finished sets: attempts, on one machine or a cluster."""
