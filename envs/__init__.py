"""Simulators and benchmarks behind one observe/act interface."""
