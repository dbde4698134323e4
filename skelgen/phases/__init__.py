"""Find the phases of a run: stretches of its logical trace that come again and again.

In: events, their matching, ticks and symbols. Out: `Phases`, each with its weight, its
time and where each rank begins and ends it. Papers: PAS2P; Martinez Canillas 2011,
chapter 4.
"""
