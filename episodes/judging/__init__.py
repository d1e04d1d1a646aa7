"""Where a decision went wrong: in seeing, thinking or acting (PCA-Bench, Chen et al. 2024)."""
