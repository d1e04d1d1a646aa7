"""The page of a set: one file beside its images, without network."""
