"""A folder of runs as one table: who acts best, under which conditions, and how sure that is."""
