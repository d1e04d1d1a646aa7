"""A world described once, in rows. An environment that needs none of it does not import it."""
