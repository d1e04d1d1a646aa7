"""Work spread over a Ray cluster: episodes, or anything that is a list of independent jobs.

Every node needs this package, and what the jobs need, in the Python that Ray runs there. Over the
wire go names, plain values and bytes; that Ray pickles those is Ray's own affair.
"""
