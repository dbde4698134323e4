"""Cluster events into symbols.

In: `Events` and `Matching`. Out: `Symbols`, one symbol for each call, with relative
partners, tags that only say what matching needs, and message sizes in clusters.
Calls that communicate with nobody have none; their time folds into computation.
Paper: Sodhi and Subhlok 2005, section III-B, clustering similar execution events.
"""
