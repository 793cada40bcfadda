"""The schema's migrations, which Alembic runs when a store is opened."""
