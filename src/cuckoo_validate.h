/*-------------------------------------------------------------------------
 *
 * cuckoo_validate.h
 *		The only validator of an image.
 *
 * An image that it accepts is safe to use in every core function.  Text input,
 * binary receive, the cast from bytea and the tests all call it.  It makes the
 * checks of cuckoo_header_read(), and also refuses impossible bucket contents
 * and a wrong number of items.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_VALIDATE_H
#define CUCKOO_VALIDATE_H

#include "cuckoo_format.h"

/* Checks a whole image.  Returns CUCKOO_OK or the reason to refuse it. */
extern CuckooStatus cuckoo_validate(const uint8_t *image, uint64_t size);

#endif							/* CUCKOO_VALIDATE_H */
