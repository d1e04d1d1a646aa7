"""The page of a set: one file beside its pictures, without network."""
