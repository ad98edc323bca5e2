# PostgreSQL's official image with cuckoo:
#
#	docker build -t postgres-cuckoo --build-arg PG_MAJOR=17 .
#	docker run --rm -e POSTGRES_PASSWORD=secret postgres-cuckoo
#
# Then CREATE EXTENSION cuckoo in a database.
ARG PG_MAJOR=17

FROM postgres:${PG_MAJOR} AS build
ARG PG_MAJOR
RUN apt-get update && \
	apt-get install -y --no-install-recommends \
		gcc libc6-dev libxxhash-dev make "postgresql-server-dev-$PG_MAJOR"
COPY . /cuckoo
RUN make -C /cuckoo install DESTDIR=/built

FROM postgres:${PG_MAJOR}
COPY --from=build /built /
