"""A server of VirtualHome's Unity protocol over the evolving graph and our renderer.

`python -m inhabit.envs.virtualhome.server --port 8080` listens to this machine alone.
"""
