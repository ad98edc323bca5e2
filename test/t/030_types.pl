# Every type of PostgreSQL and of some extensions in an index: the index refuses
# the type, or it agrees with the type's `=`. This is tried for a scan, for an
# exclusion constraint, for a unique index and for cf_unique_trigger, with values
# that are equal and look different.
#
# A type of an extension gets an operator class, as doc/index.md describes it.
# Extensions that are not installed are skipped.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my %types = (
	core => {
		'"char"' => [ 'a', 'A', '', '\141' ],
		aclitem => [ '=r/pg_monitor', '"pg_monitor"=r/pg_monitor', '"pg_monitor"=r*/pg_monitor' ],
		bigint => [ '1', ' 01', '-1', '4294967297', '9223372036854775807' ],
		boolean => [ 't', 'yes', 'f', 'off' ],
		bytea => [ '\x61', 'a', '\x', '\x00', '\x6100' ],
		character => [ 'a', 'b', '', ' ' ],
		'character(3)' => [ 'a', 'a  ', 'A', '' ],
		'character varying' => [ 'a', 'a ', 'A', '' ],
		cid => [ '1', '01', '4294967295' ],
		cidr => [ '10.0.0.0/8', '10', '10.0.0.0/32', '::1', '::0001/128' ],
		date => [ '2000-01-01', 'January 1 2000', 'infinity', '2000-01-02', '4714-11-24 BC' ],
		'double precision' => [ '1', '1.0', '-0', '0', 'NaN', 'nan', '1e-300', 'Infinity' ],
		inet => [ '10.0.0.1', '10.0.0.1/32', '10.0.0.1/8', '::ffff:10.0.0.1', '0:0::ffff:a00:1' ],
		int2vector => [ '1 2', ' 1  2', '', '2 1' ],
		integer => [ '1', ' 01', '-1', '2147483647' ],
		interval => [ '1 day', '24 hours', '1 mon', '30 days', '720:00', '1 mon 1 s', '-1 day' ],
		jsonb => [ '{"a": 1, "b": [2]}', '{"b":[2.0],"a":1.00}', '1', '1.0', '"1"', 'null', '[]', '{}' ],
		macaddr => [ '08:00:2b:01:02:03', '08002b-010203', '08:00:2b:01:02:04' ],
		macaddr8 => [ '08:00:2b:01:02:03', '08:00:2b:ff:fe:01:02:03', '08:00:2b:01:02:04' ],
		name => [ 'a', 'a ', 'A', '', 'a' x 63, 'a' x 70 ],
		numeric => [ '1', '1.000', '10e-1', '-0', '0.00', 'NaN', 'Infinity', '1e400', '10e399', '1e-400' ],
		oid => [ '1', '01', '4294967295' ],
		oidvector => [ '1 2', ' 1  2', '', '2 1' ],
		pg_lsn => [ '0/1', '00000000/00000001', '1/0' ],
		real => [ '1', '1.0', '-0', '0', 'NaN', 'nan', '1e-30', 'Infinity' ],
		regclass => [ 'pg_class', '1259', 'pg_catalog.pg_class', 'pg_type' ],
		regcollation => [ '"C"', '950', 'pg_catalog."C"', '"POSIX"' ],
		regconfig => [ 'simple', '3748', 'pg_catalog.simple' ],
		regdatabase => [ 'postgres', 'template1', '1' ],
		regdictionary => [ 'simple', '3765', 'pg_catalog.simple' ],
		regnamespace => [ 'pg_catalog', '11', 'public' ],
		regoper => [ '||/', '597', 'pg_catalog.||/', '|/' ],
		regoperator => [ '=(integer,integer)', '96', '=(int4,int4)', '=(bigint,bigint)' ],
		regproc => [ 'now', '1299', 'pg_catalog.now', 'version' ],
		regprocedure => [ 'now()', '1299', 'pg_catalog.now( )', 'version()' ],
		regrole => [ 'pg_monitor', '3373', 'pg_read_all_stats' ],
		regtype => [ 'integer', '23', 'int4', 'bigint' ],
		smallint => [ '1', ' 01', '-1', '32767' ],
		text => [ 'a', 'a ', 'A', '', 'a' x 3000, 'a' x 3001 ],
		tid => [ '(1,2)', '(01,2)', '(2,1)', '(4294967295,65535)' ],
		'time with time zone' => [ '12:00+0', '12:00Z', '13:00+1', '24:00+0' ],
		'time without time zone' => [ '12:00', '12:00:00.0', '24:00', '00:00' ],
		'timestamp with time zone' => [ '2000-01-01 12:00+0', '2000-01-01 13:00+1', 'infinity', '2000-01-01 12:00+1' ],
		'timestamp without time zone' => [ '2000-01-01', '2000-01-01 00:00:00.0', 'infinity', '2000-01-01 12:00' ],
		uuid => [ '00000000-0000-0000-0000-00000000000a', '{0000000000000000000000000000000A}',
			'0a000000-0000-0000-0000-000000000000' ],
		xid => [ '1', '01', '4294967295' ],
		xid8 => [ '1', '01', '4294967297' ],
		# ranges
		int4range => [ '[1,3)', '[1,2]', '(0,3)', 'empty', '[1,1)', '(,3)', '(,)' ],
		int8range => [ '[1,3)', '[1,2]', '(0,3)', 'empty', '[1,1)', '(,3)', '(,)' ],
		numrange => [ '[1,2]', '[1.0,2.00]', '[1,2)', 'empty', '[1,1)', '(,)' ],
		daterange => [ '[2000-01-01,2000-01-02]', '[2000-01-01,2000-01-03)', 'empty', '[2000-01-01,infinity]' ],
		tsrange => [ '[2000-01-01,2000-01-02]', '[2000-01-01 00:00,2000-01-02]', '[2000-01-01,2000-01-02)', 'empty' ],
		tstzrange => [ '[2000-01-01 0:00+0,)', '[2000-01-01 1:00+1,)', '(2000-01-01 0:00+0,)', 'empty' ],
		int4multirange => [ '{[1,2],[3,4]}', '{[1,5)}', '{[1,2],[5,6]}', '{}' ],
		int8multirange => [ '{[1,2],[3,4]}', '{[1,5)}', '{[1,2],[5,6]}', '{}' ],
		nummultirange => [ '{[1,2],[2,3]}', '{[1.0,3.00]}', '{[1,3)}', '{}' ],
		datemultirange => [ '{[2000-01-01,2000-01-02]}', '{[2000-01-01,2000-01-03)}', '{}' ],
		tsmultirange => [ '{[2000-01-01,2000-01-02]}', '{[2000-01-01 00:00,2000-01-02]}', '{}' ],
		tstzmultirange => [ '{[2000-01-01 0:00+0,)}', '{[2000-01-01 1:00+1,)}', '{}' ],
		# domains
		'information_schema.cardinal_number' => [ '1', '01', '2' ],
		'information_schema.character_data' => [ 'a', 'a ', 'A' ],
		'information_schema.sql_identifier' => [ 'a', 'a ', 'A' ],
		'information_schema.time_stamp' => [ '2000-01-01 12:00+0', '2000-01-01 13:00+1', '2000-01-01 12:00+1' ],
		'information_schema.yes_or_no' => [ 'YES', 'NO' ],
		# types of this test
		mood => [ 'sad', 'ok', 'SAD' ],
		pair => [ '(1.0,a)', '(1.00,a)', '(1,)', '(,)' ],
		'integer[]' => [ '{1,2}', '[1:2]={1,2}', '[0:1]={1,2}', '{}', '{NULL}', '{{1,2}}' ],
		'numeric[]' => [ '{1,2.0}', '{1.0,2}', '{}' ],
		'mood[]' => [ '{sad}', '{ok}', '{}' ],
		'pair[]' => [ '{"(1.0,a)"}', '{"(1.00,a)"}', '{}' ],
	},
	citext => {
		citext => [ 'a', 'A', 'a ', 'ä', 'b' ],
		folded => [ 'a', 'A', 'a ', 'b' ],
		'citext[]' => [ '{a,b}', '{A,B}', '{b,a}', '{}' ],
		folded_pair => [ '(1,a)', '(1,A)', '(2,a)' ],
		folded_range => [ '[a,b]', '[A,B]', '[a,b)', 'empty' ],
	},
	hstore => { hstore => [ 'a=>1,b=>2', 'b=>2, a=>1', 'a=>1', 'a=>NULL', '' ] },
	isn => {
		ean13 => [ '978-0-393-04002-9', '9780393040029', '4006381333931' ],
		isbn => [ '978-0-393-04002-9', '0-393-04002-X', '0393040029!' ],
		isbn13 => [ '978-0-393-04002-9', '039304002X', '978-0-11-000222-4' ],
		ismn => [ '979-0-060-11561-5', 'M-060-11561-5', '9790260000438' ],
		ismn13 => [ '979-0-060-11561-5', 'M060115615', '9790260000438' ],
		issn => [ '1436-4522', '14364522', '977-1436-452-00-8' ],
		issn13 => [ '977-1436-452-00-8', '1436-4522', '9771430000003!' ],
		upc => [ '220356483481', '0220356483481', '123456789012' ],
	},
	lo => { lo => [ '1', '01', '2' ] },
	ltree => { ltree => [ 'a.b', 'a', '', 'A.b' ] },
	cube => {},
	intarray => {},
	pg_trgm => {},
	seg => {},
	# packages of Debian
	# equal versions have different hashes
	debversion => {},
	h3 => { h3index => [ '8928308280fffff', '08928308280FFFFF', '891fb466257ffff' ] },
	ip4r => {
		ip4 => [ '10.0.0.1', '10.0.0.2' ],
		ip4r => [ '10.0.0.0/8', '10.0.0.0-10.255.255.255', '10.0.0.0/9', '10.0.0.0' ],
		ip6 => [ '::1', '0:0:0::0001', '::2' ],
		ip6r => [ '::/126', '::-::3', '::/127', '::' ],
		ipaddress => [ '10.0.0.1', '::1', '0::0:1', '::ffff:10.0.0.1', '::ffff:a00:1' ],
		iprange => [ '10.0.0.0/8', '10.0.0.0-10.255.255.255', '::/126', '::-::3', '-' ],
	},
	jsquery => { jsquery => [ 'a = 1', 'a=1', '(a = 1)', 'a = 2' ] },
	# compared as bigint, as in a B-tree; their operators are in no class
	numeral => { numeral => [], roman => [], zahl => [] },
	pg_rational => { rational => [ '1/2', '2/4', '1/3', '-1/2', '0/1', '0/2' ] },
	pg_sphere => { spoint => [ '(1,0)', '(1.0 , 0.0)', '(1,1)' ] },
	pgmp => {
		mpz => [ '1', '0x1', '1' . '0' x 40, '-1' ],
		mpq => [ '1/2', '2/4', '1/3', '-1/2' ],
	},
	prefix => {},
	roaringbitmap => {
		roaringbitmap => [ '{1,2}', '{2,1}', '{}', '{1}' ],
		roaringbitmap64 => [ '{1,2}', '{2,1}', '{}', '{1}' ],
	},
	# an INSERT of a range fails, because its bounds have no hash function with a seed
	semver => { semver => [ '1.2.3', '1.2.3+build', '1.2.3-rc', '1.2.4' ], semverrange => [], semvermultirange => [] },
	timestamp9 => {
		timestamp9 => [ '2000-01-01 12:00:00.000000001+0', '2000-01-01 13:00:00.000000001+1', '2000-01-02' ],
	},
	unit => { unitrange => [], unitmultirange => [] },
	vector => {},
);

my $node = start_node('types');
my $unique = $node->safe_psql('postgres', "SELECT current_setting('server_version_num')::int >= 180000");

$node->safe_psql('postgres', <<'SQL');
CREATE TYPE mood AS ENUM ('sad', 'ok', 'SAD');
CREATE TYPE pair AS (n numeric, t text);
CREATE FUNCTION result_of(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
CREATE FUNCTION accepts(method text, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text := result_of(format('CREATE TABLE probe (v %s)', type));
BEGIN
	IF result = 'done' THEN
		result := result_of(format('CREATE INDEX ON probe USING %I (v)', method));
		DROP TABLE probe;
	END IF;
	RETURN result;
END $$;

-- creates an operator class from the one of hash; returns false if there is none, or if hash joins do not trust it
CREATE FUNCTION create_class(type regtype) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	equality regoperator;
	hash regprocedure;
	extended regprocedure;
BEGIN
	SELECT amopopr, h.amproc, e.amproc INTO equality, hash, extended
	FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod AND amname = 'hash'
		JOIN pg_amop o ON amopfamily = opcfamily AND amoplefttype = opcintype AND amoprighttype = opcintype
		JOIN pg_amproc h ON h.amprocfamily = opcfamily AND h.amproclefttype = opcintype AND h.amprocnum = 1
		LEFT JOIN pg_amproc e ON e.amprocfamily = opcfamily AND e.amproclefttype = opcintype AND e.amprocnum = 2
		JOIN pg_operator r ON r.oid = amopopr AND oprcanhash
	WHERE opcintype = type AND opcdefault;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	IF extended IS NULL THEN
		EXECUTE format('CREATE FUNCTION hash_with_seed(%s, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
			RETURN hashint8extended(%s($1), $2)', type, hash::oid::regproc);
		extended := format('hash_with_seed(%s,bigint)', type);
	END IF;
	EXECUTE format('CREATE OPERATOR CLASS class_%s DEFAULT FOR TYPE %s USING cuckoo AS OPERATOR 1 %s, FUNCTION 1 %s',
		type::oid, type, equality, extended);
	RETURN true;
END $$;

CREATE TABLE samples (n int GENERATED ALWAYS AS IDENTITY, type text, literal text);
-- inserts the values of a type one by one, by a command with %L; returns the number of rows without error
CREATE FUNCTION inserted(of text, command text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	result int := 0;
	value text;
BEGIN
	FOR value IN SELECT literal FROM samples WHERE type = of ORDER BY n LOOP
		BEGIN
			EXECUTE format(command, value);
			result := result + 1;
		EXCEPTION WHEN unique_violation OR exclusion_violation THEN
		END;
	END LOOP;
	RETURN result;
END $$;
-- how many of the values are distinct by =, and how many rows the constraints let in
CREATE FUNCTION agree(type text, has_unique boolean, OUT truth int, OUT exclude int, OUT uniq int, OUT trigger int,
	OUT lookups text) LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off AS $$
DECLARE
	plan text := '';
	line text;
	query text := 'WITH copy AS MATERIALIZED (SELECT v, ctid AS row FROM looked_up),
		found AS (SELECT (SELECT array_agg(ctid ORDER BY ctid) FROM looked_up l WHERE l.v = c.v)
			IS NOT DISTINCT FROM (SELECT array_agg(row ORDER BY row) FROM copy o WHERE o.v = c.v) AS same FROM copy c)
		SELECT count(*) FILTER (WHERE same) || '' of '' || count(*) FROM found';
BEGIN
	EXECUTE format('CREATE TABLE looked_up (n int GENERATED ALWAYS AS IDENTITY, v %s)', type);
	PERFORM inserted(type, 'INSERT INTO looked_up (v) VALUES (%L)');
	EXECUTE 'SELECT count(*) FROM looked_up a WHERE NOT EXISTS (SELECT FROM looked_up b WHERE b.n < a.n AND b.v = a.v)'
		INTO truth;
	CREATE INDEX looked_up_v ON looked_up USING cuckoo (v);
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		plan := plan || line;
	END LOOP;
	EXECUTE query INTO lookups;
	IF plan !~ 'Scan (using|on) looked_up_v' THEN
		lookups := lookups || ' without index';
	END IF;

	EXECUTE format('CREATE TABLE excluded (v %s, EXCLUDE USING cuckoo (v WITH =))', type);
	exclude := inserted(type, 'INSERT INTO excluded VALUES (%L)');
	uniq := truth;
	IF has_unique THEN
		EXECUTE format('CREATE TABLE once (v %s)', type);
		EXECUTE 'CREATE UNIQUE INDEX ON once USING cuckoo (v)';
		uniq := inserted(type, 'INSERT INTO once VALUES (%L)');
		DROP TABLE once;
	END IF;
	EXECUTE format('CREATE TABLE parts (part int, v %s) PARTITION BY LIST (part)', type);
	CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
	CREATE INDEX parts_v ON parts USING cuckoo (v);
	CREATE TRIGGER parts_unique AFTER INSERT OR UPDATE ON parts FOR EACH ROW
		EXECUTE FUNCTION cf_unique_trigger('parts_v');
	CREATE SEQUENCE next;
	trigger := inserted(type, 'INSERT INTO parts VALUES (nextval(''next'') %% 2, %L)');
	DROP TABLE looked_up, excluded, parts;
	DROP SEQUENCE next;
END $$;
SQL

# Sends the values of types, and compares.
sub compare
{
	my ($of) = @_;

	foreach my $type (sort keys %$of)
	{
		next if !@{ $of->{$type} };
		next if $node->safe_psql('postgres', "SELECT accepts('cuckoo', \$t\$$type\$t\$)") ne 'done';
		my $literals = join ', ', map { "(\$l\$$type\$l\$, \$l\$$_\$l\$)" } @{ $of->{$type} };
		checks($node, 'postgres', <<"SQL");
INSERT INTO samples (type, literal) VALUES $literals;
SELECT '$type: a scan, EXCLUDE, UNIQUE and the trigger, with ' || truth || ' distinct values', lookups,
	'@{[ scalar @{ $of->{$type} } ]} of @{[ scalar @{ $of->{$type} } ]}', exclude, truth, uniq, truth, trigger, truth
FROM agree('$type', '$unique');
SQL
	}
	return;
}

# ---- types of PostgreSQL ----

my $known = join ', ', map { "'$_'" } sort keys %{ $types{core} };

checks($node, 'postgres', <<"SQL");
CREATE TABLE core AS SELECT oid::regtype::text AS type, accepts('cuckoo', oid::regtype::text) AS cuckoo,
	accepts('hash', oid::regtype::text) AS hash
FROM pg_type WHERE oid < 16384 AND typisdefined AND typtype IN ('b', 'd', 'e', 'r', 'm')
	AND (typcategory <> 'A' OR typname IN ('int2vector', 'oidvector'));
SELECT 'as hash', coalesce(string_agg(type, ', '), 'all'), 'all'
FROM core WHERE cuckoo <> hash AND type <> 'oid8';
SELECT 'refused: ' || string_agg(type, ', ' ORDER BY type), bool_and(cuckoo = '42704') FROM core WHERE cuckoo <> 'done';
-- the others have no input
SELECT 'accepted types without values here', coalesce(string_agg(type, ', ' ORDER BY type), 'none'),
	'pg_dependencies, pg_mcv_list, pg_ndistinct, pg_node_tree'
FROM core WHERE cuckoo = 'done' AND type NOT IN ($known);
SQL
compare($types{core});

# ---- types of extensions ----

my $names = join ', ', map { "'$_'" } sort grep { $_ ne 'core' } keys %types;
my @installed = split /\n/, $node->safe_psql('postgres',
	"SELECT name FROM pg_available_extensions WHERE name IN ($names) ORDER BY name");
my %missing = map { $_ => 1 } grep { $_ ne 'core' } keys %types;
delete @missing{@installed};

foreach my $extension (@installed)
{
	my $of = $types{$extension};

	$node->safe_psql('postgres', "CREATE EXTENSION $extension");
	checks($node, 'postgres', <<"SQL");
CREATE TABLE of_extension AS SELECT t.oid::regtype AS type, accepts('cuckoo', t.oid::regtype::text) AS before,
	typtype = 'b' AND create_class(t.oid) AS has_hash
FROM pg_type t JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid AND deptype = 'e'
	JOIN pg_extension e ON e.oid = refobjid
WHERE extname = '$extension' AND typisdefined AND typtype IN ('b', 'd', 'e', 'r', 'm') AND typcategory <> 'A';
SELECT '$extension: ' || coalesce(string_agg(type || CASE WHEN has_hash THEN ' needs a class' WHEN before = 'done'
		THEN ' is used as another type' ELSE ' is refused' END, ', ' ORDER BY type::text), 'no types'),
	count(*) FILTER (WHERE has_hash AND before = 'done'), 0, count(*) FILTER (WHERE has_hash AND after <> 'done'), 0,
	coalesce(string_agg(before, ' ') FILTER (WHERE before NOT IN ('done', '42704')), 'no'), 'no'
FROM of_extension, accepts('cuckoo', type::text) after;
SELECT '$extension: accepted types without values here',
	coalesce(string_agg(type::text, ', ' ORDER BY type::text), 'none'), 'none'
FROM of_extension WHERE accepts('cuckoo', type::text) = 'done'
	AND type::text NOT IN (@{[ join ', ', "''", map { "'$_'" } sort keys %$of ]});
DROP TABLE of_extension;
SQL
	$node->safe_psql('postgres', <<'SQL') if $extension eq 'citext';
CREATE DOMAIN folded AS citext;
CREATE TYPE folded_pair AS (n int, c citext);
CREATE TYPE folded_range AS RANGE (subtype = citext);
SQL
	compare($of);
}

SKIP:
{
	skip 'extensions that are not installed: ' . join(', ', sort keys %missing), 1 if %missing;
}

$node->stop;
done_testing();
