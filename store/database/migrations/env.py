"""What Alembic runs: the migrations, on the connection and in the transaction of whoever opens a store."""

from alembic import context

from store.database.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
