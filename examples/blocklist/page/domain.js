// What of an e-mail address is looked up. The page, the service and the loader
// use the same rules: a domain that one of them writes in another way would be
// missed.

// domainOf(ADDRESS): the domain, or null where the address is not complete
export function domainOf(address)
{
  const at = address.lastIndexOf('@');

  return at > 0 ? normalDomain(address.slice(at + 1)) : null;
}

// normalDomain(LINE): as a browser asks for it, in lower case and, beyond ASCII,
// in Punycode, without white space around it; null where it is no domain
export function normalDomain(line)
{
  const text = line.trim();
  let name;

  try {
    name = new URL(`http://${text}`).hostname.replace(/\.$/, '');
  } catch {
    return null;
  }
  // a URL may have more than a host
  if (/[/?#@:\\\s]/.test(text))
    return null;
  return /^([a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(name) ? name : null;
}

// withParents('a.b.example'): ['a.b.example', 'b.example', 'example']
export function withParents(domain)
{
  const labels = domain.split('.');

  return labels.map((_, i) => labels.slice(i).join('.'));
}
