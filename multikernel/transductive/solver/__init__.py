"""Kernel matrices over given points: an interior point method with a certificate."""
