"""How good models are: on simulated programs, and on real runs."""
