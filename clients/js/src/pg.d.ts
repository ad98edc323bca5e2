interface Queryable {
  query(text: string): Promise<{ rows: any[] }>;
}

interface Types {
  setTypeParser(oid: number, format: any, parse: (value: any) => any): void;
}

/**
 * Makes columns of the type cuckoofilter promises of a CuckooFilter: in the
 * results of a client, or with register(pool, pg.types) everywhere.
 */
export function register(client: Queryable & Types): Promise<void>;
export function register(client: Queryable, types: Types): Promise<void>;
