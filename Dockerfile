# The server, its bots and the arena in one image: docker run IMAGE server | agents.client … | arena …

FROM python:3.11-slim-bookworm AS build
WORKDIR /build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /opt/nukidora
# The dependencies have a layer of their own, which is rebuilt less often than the sources.
COPY pyproject.toml constraints.txt ./
ARG EXTRAS=server
RUN python -c "import sys, tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
    print(*project['dependencies'], *sum((project['optional-dependencies'][extra] for extra in sys.argv[1:]), []), sep='\n')" \
    ${EXTRAS} > requirements.txt
RUN /opt/nukidora/bin/pip install --constraint constraints.txt --requirement requirements.txt
RUN python -m pip install --constraint constraints.txt hatchling
COPY LICENSE README.md ./
COPY engine engine
COPY agents agents
COPY arena arena
COPY server server
COPY nukidora nukidora
RUN python -m pip wheel --no-build-isolation --no-deps --wheel-dir wheels .
RUN /opt/nukidora/bin/pip install --no-deps wheels/*.whl

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin nukidora
RUN install --directory --owner=nukidora --group=nukidora /cache /data
COPY --from=build /opt/nukidora /opt/nukidora
# NUMBA_CPU_NAME=generic: compiled code runs on every processor of this architecture.
ENV PATH=/opt/nukidora/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONSAFEPATH=1 \
    NUMBA_CPU_NAME=generic \
    NUKIDORA_CACHE=/cache \
    NUKIDORA_DATA=/data \
    NUKIDORA_HOST=0.0.0.0
USER nukidora
WORKDIR /data
RUN python -m engine.warm_up
VOLUME ["/data"]
EXPOSE 8000 11600
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=5 \
    CMD ["python", "-c", "import os, urllib.request as web; web.build_opener(web.ProxyHandler({})).open('http://127.0.0.1:' + os.environ.get('NUKIDORA_PORT', '8000') + '/healthz', timeout=3)"]
ENTRYPOINT ["python", "-m"]
CMD ["server"]
