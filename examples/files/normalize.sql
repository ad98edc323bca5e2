-- One spelling for lines of lists: psql -f examples/files/normalize.sql
--
-- Each function converts a line of a file, and also what is looked up. A line
-- that it does not understand, such as a comment, gives NULL or no row.
-- doc/files.md describes them. They need a database in UTF-8, and PostgreSQL
-- with ICU: without a collation, lower() may know only the letters A to Z.

-- White space, CR and a byte-order mark around a line
CREATE FUNCTION stripped(line text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT btrim(line, E' \t\r\n\u00A0\uFEFF')
$$;

-- Lower case and one form of each character, without invisible characters
CREATE FUNCTION word_of(line text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT nullif(normalize(lower(normalize(translate(stripped(line), E'\u00AD\u200B\uFEFF', ''), NFKC) COLLATE "und-x-icu")), '')
$$;

-- The characters of a label after xn-- (RFC 3492), or NULL
CREATE FUNCTION from_punycode(label text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
	result text := coalesce(substring(label FROM '^(.*)-'), '');
	digits text := substring(label FROM '[^-]*$');
	code bigint := 128;
	bias bigint := 72;
	i bigint := 0;
	before bigint;
	weight bigint;
	digit int;
	threshold bigint;
	k int;
BEGIN
	WHILE digits <> '' LOOP
		before := i;
		weight := 1;
		k := 36;
		LOOP
			digit := strpos('abcdefghijklmnopqrstuvwxyz0123456789', left(digits, 1)) - 1;
			IF digits = '' OR digit < 0 OR weight > 1e9 THEN
				RETURN NULL;
			END IF;
			digits := substr(digits, 2);
			i := i + digit * weight;
			threshold := least(greatest(k - bias, 1), 26);
			EXIT WHEN digit < threshold;
			weight := weight * (36 - threshold);
			k := k + 36;
		END LOOP;
		bias := CASE before WHEN 0 THEN i / 700 ELSE (i - before) / 2 END;
		bias := bias + bias / (length(result) + 1);
		k := 0;
		WHILE bias > 455 LOOP
			bias := bias / 35;
			k := k + 36;
		END LOOP;
		bias := k + 36 * bias / (bias + 38);
		code := code + i / (length(result) + 1);
		i := i % (length(result) + 1);
		IF code > 1114111 OR code BETWEEN 55296 AND 57343 THEN
			RETURN NULL;
		END IF;
		result := left(result, i::int) || chr(code::int) || substr(result, i::int + 1);
		i := i + 1;
	END LOOP;
	RETURN result;
END
$$;

-- A domain name in lower case, without a dot at its end, and in Unicode
CREATE FUNCTION name_of(name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT string_agg(CASE WHEN label LIKE 'xn--%' THEN coalesce(from_punycode(substr(label, 5)), label) ELSE label END, '.' ORDER BY n)
FROM string_to_table(btrim(translate(word_of(name), '。', '.'), '.'), '.') WITH ORDINALITY AS l(label, n)
$$;

-- The name and the names above it that have a dot
CREATE FUNCTION with_parents(name text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
SELECT array_agg(array_to_string(labels[i:], '.') ORDER BY i)
FROM string_to_array(name_of(name), '.') labels, generate_series(1, greatest(cardinality(labels) - 1, 1)) i
$$;

-- The domains of a line of a hosts file, of a list of AdGuard, or of a list of
-- domains. It leaves out exceptions (@@), rules with conditions or patterns,
-- and the names of the own machine.
CREATE FUNCTION domains_of(line text) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
SELECT name
FROM stripped(line) s, LATERAL (
	SELECT (regexp_match(s, '^\|\|([^|^$]+)\^?(\$important)?$'))[1]
	UNION ALL
	SELECT unnest((regexp_split_to_array(regexp_replace(s, '\s*#.*', ''), '\s+'))[2:])
	WHERE s ~* '^([0-9.]+|[0-9a-f]*:[0-9a-f:.]*)(%\w+)?\s'
	UNION ALL
	SELECT (regexp_match(s, '^@?(\S+)(\s+#.*)?$'))[1]
) l(found), name_of(found) name
WHERE found !~ '[[:space:]!-,/:-@[-^`{-~]' AND name ~ '^([^.]+\.)+[^.]*[^.0-9]$' AND name <> 'localhost.localdomain'
$$;

-- The network of a line: an address or a network, and perhaps more columns
CREATE FUNCTION network_of(line text) RETURNS cidr LANGUAGE sql IMMUTABLE AS $$
SELECT network(regexp_replace(token, '^::ffff:(?=[0-9.]+$)', '', 'i')::inet)
FROM substring(stripped(line) FROM '^[^\s#;,]+') token
WHERE token ~* '^([0-9]+\.[0-9.]*|[0-9a-f]*:[0-9a-f:.]*)(/[0-9]+)?$'
$$;

-- The hash of a line: hexadecimal digits first, or after "="
CREATE FUNCTION hash_of(line text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
SELECT decode(digits, 'hex')
FROM replace((regexp_match(stripped(line), '(?:^|= *)(?:\\x|0x)?([0-9a-f]{2}(?::?[0-9a-f]{2})+)(?=$|[\s;,*])', 'i'))[1], ':', '') digits
WHERE length(digits) IN (32, 40, 56, 64, 96, 128)
$$;

-- A URL by the rules of RFC 3986, 6.2: the case of scheme, host and %2F, the
-- default port, an empty path. hxxp and [.] become http and a dot again.
CREATE FUNCTION url_of(line text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT scheme || '://' || coalesce(part[2], '') || name_of(part[3])
	|| CASE WHEN part[4] NOT IN ('', ':', CASE scheme WHEN 'http' THEN ':80' WHEN 'https' THEN ':443' END) THEN part[4] ELSE '' END
	|| CASE WHEN part[5] LIKE '/%' THEN '' ELSE '/' END
	|| (SELECT coalesce(string_agg(CASE WHEN m[1] LIKE '\%_%' THEN upper(m[1]) ELSE m[1] END, '' ORDER BY n), '')
		FROM regexp_matches(normalize(part[5]), '%[0-9A-Fa-f]{2}|[^%]+|%', 'g') WITH ORDINALITY AS p(m, n))
FROM regexp_match(replace(stripped(line), '[.]', '.'),
	'^([a-z][a-z0-9+.-]*)://([^/?#@]*@)?([^/?#@:]+|\[[0-9a-f:.]+\])(:[0-9]*)?([^#]*)', 'i') part,
	lower(regexp_replace(part[1], '^hxxp', 'http', 'i')) scheme
$$;
