/* Memory that is there, or the end of the program. */
#ifndef ROOM_H
#define ROOM_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static inline void *room(size_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu times %zu bytes\n", count, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

#endif
