"""Rates over episodes, comparisons of runs, and how sure they are."""
