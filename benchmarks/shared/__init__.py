"""What several benchmarks use, or one whose own file tells enough."""
