"""The base images of the Dockerfile and the compose file, as Debian's packages make them, for `tests.containers`."""

from __future__ import annotations

from typing import NamedTuple

# What the official images have and Debian's packages lack.
PYTHON_SETUP = """
ln -s /usr/bin/python3 /usr/local/bin/python
ln -s /usr/bin/pip3 /usr/local/bin/pip
rm -f /usr/lib/python3*/EXTERNALLY-MANAGED
"""
POSTGRES_SETUP = r"""
cat >/usr/local/bin/docker-entrypoint.sh <<'END'
#!/bin/sh
set -eu
as_postgres="setpriv --reuid=postgres --regid=postgres --init-groups"
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  install -d -o postgres -g postgres -m 700 "$PGDATA"
  install -o postgres -m 600 /dev/null /run/password
  printf %s "$POSTGRES_PASSWORD" >/run/password
  $as_postgres initdb -D "$PGDATA" --username="$POSTGRES_USER" --pwfile=/run/password \
    --auth-local=trust --auth-host=scram-sha-256
  rm /run/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  $as_postgres pg_ctl -D "$PGDATA" -w -o '-c listen_addresses=' start
  $as_postgres createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  $as_postgres pg_ctl -D "$PGDATA" -w stop
fi
exec $as_postgres postgres -D "$PGDATA" -c 'listen_addresses=*'
END
chmod 755 /usr/local/bin/docker-entrypoint.sh
ln -s /usr/lib/postgresql/*/bin/pg_isready /usr/local/bin/
"""


class Base(NamedTuple):
    """A base image: Debian's packages for a version, what a shell does in it, and instructions as of a Dockerfile."""

    packages: str
    setup: str
    instructions: tuple[str, ...]


BASES = {
    "python": Base("ca-certificates,python{0},python{0}-venv,python3-pip", PYTHON_SETUP, ("CMD python",)),
    "postgres": Base(
        "postgresql-{}",
        POSTGRES_SETUP,
        (
            'ENTRYPOINT ["docker-entrypoint.sh"]',
            "ENV PGDATA=/var/lib/postgresql/data",
            "STOPSIGNAL SIGINT",
            "VOLUME /var/lib/postgresql/data",
        ),
    ),
}
