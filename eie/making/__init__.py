"""Makes data sets: authors, the checking pipeline, and attempts on one machine or a cluster."""
