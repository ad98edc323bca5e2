/*-------------------------------------------------------------------------
 *
 * cuckoo_validate.h
 *		The only validator of an image.
 *
 * Text input, binary receive, the cast from bytea and the tests share it.
 * Beyond what cuckoo_header_read() checks it refuses what the header cannot
 * know: impossible bucket contents and a wrong number of items.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_VALIDATE_H
#define CUCKOO_VALIDATE_H

#include "cuckoo_format.h"

/* Checks a whole image; CUCKOO_OK or the reason to refuse it. */
extern CuckooStatus cuckoo_validate(const uint8_t *image, uint64_t size);

#endif							/* CUCKOO_VALIDATE_H */
