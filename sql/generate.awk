# Makes an install script from its template:
#
#	awk -f sql/generate.awk sql/cuckoo.sql.in >sql/cuckoo--1.0.sql
#
# Lines of the template that begin with @ are directives:
#
#	@each NAME | NAME...	begins a block, up to @end
#	@| VALUE | VALUE...		a row: the block is repeated for each row, and
#							@NAME@ in it stands for the row's VALUE
#	@end
#	@default NAME VALUE		what @NAME@ stands for if no row has a value
#	@include FILE			the lines of FILE, from the template's folder
#
# Blocks may contain blocks.  A line whose values leave it empty is left out.

function fail(message)
{
	print "generate.awk: " message >"/dev/stderr"
	failed = 1
	exit 1
}

function read(file, line, status)
{
	while ((status = (getline line <file)) > 0)
	{
		if (line ~ /^@include /)
			read(folder substr(line, 10))
		else if (match(line, /^@default [a-z]+/))
			defaults[substr(line, 10, RLENGTH - 9)] = substr(line, RLENGTH + 2)
		else
			lines[++count] = line
	}
	if (status < 0)
		fail("cannot read " file)
	close(file)
}

# cells(LINE, INTO): splits what follows the directive at its bars
function cells(line, into)
{
	sub(/^@(each|\|)[ \t]*/, "", line)
	return split(line, into, /[ \t]*\|[ \t]*/)
}

# filled(LINE): with the values of the rows that it is repeated for
function filled(line, out, name)
{
	while (match(line, /@[a-z]+@/))
	{
		name = substr(line, RSTART + 1, RLENGTH - 2)
		if (!(name in values) && !(name in defaults))
			fail("nothing says what @" name "@ is")
		out = out substr(line, 1, RSTART - 1)
		line = (values[name] != "" ? values[name] : defaults[name]) \
			substr(line, RSTART + RLENGTH)
	}
	return out line
}

# end_of(FIRST): the line that ends the block that begins there
function end_of(first, i, depth)
{
	for (i = first; i <= count; i++)
	{
		depth += (lines[i] ~ /^@each /) - (lines[i] == "@end")
		if (depth == 0)
			return i
	}
	fail("a block without its @end: " lines[first])
}

function write(first, last, i, end, line)
{
	for (i = first; i <= last; i++)
		if (lines[i] ~ /^@each /)
		{
			end = end_of(i)
			repeat(i, end)
			i = end
		}
		else if (lines[i] ~ /^@/ && lines[i] !~ /^@[a-z]+@/)
			fail("no directive: " lines[i])
		else
		{
			line = filled(lines[i])
			if (line ~ /[^ \t]/ || lines[i] == "")
				print line
		}
}

function repeat(each, end, names, row, n, i, body, first)
{
	n = cells(lines[each], names)
	for (body = each + 1; lines[body] ~ /^@\|/; body++)
		;
	for (first = each + 1; first < body; first++)
	{
		split("", row)
		cells(lines[first], row)
		for (i = 1; i <= n; i++)
			values[names[i]] = row[i]
		write(body, end - 1)
	}
	for (i = 1; i <= n; i++)
		delete values[names[i]]
}

BEGIN {
	folder = ARGV[1]
	sub(/[^\/]*$/, "", folder)
	read(ARGV[1])
	print "-- Made by make from " substr(ARGV[1], length(folder) + 1) ": change that instead."
	write(1, count)
	exit failed
}
