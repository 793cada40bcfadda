"""Normalizers with tables of their own."""
