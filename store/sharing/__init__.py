"""Handing versions to others: signatures of exported files, published copies, and word of what moves."""
