/* SPDX-License-Identifier: MIT */
/* Random images, for round trips. */
#ifndef RANDOM_IMAGE_H
#define RANDOM_IMAGE_H

#include "lib/text/image.h"

/* An image that *SEED makes, valid but of no use; *SEED moves on.  Free with image_free(). */
struct image *random_image(unsigned int *seed);

#endif /* RANDOM_IMAGE_H */
