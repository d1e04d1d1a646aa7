"""A kinematic, symbolic AI2-THOR: iTHOR's 120 rooms without Unity, seen through our renderer."""
