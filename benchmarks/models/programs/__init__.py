"""Programs that the benchmarks run, and what it takes to build them."""
