"""Independent jobs on a Ray cluster: episodes of a run, or attempts of a data set.

Every node needs this package and the dependencies of the jobs, in the Python that Ray runs there.
What they exchange is pickled by Ray.
"""
