import type { CuckooFilter } from './filter.js';

/** What a row has of such a column; JSON.stringify and a parameter take its text form without await. */
export interface CuckooFilterColumn extends Promise<CuckooFilter> {
  toJSON(): string;
  toPostgres(): string;
}

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
