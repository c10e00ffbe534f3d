/* A group: its master takes commands from the manager, and all of its members solve a grid together, some rows each. */
#ifndef GROUP_H
#define GROUP_H

#include "scheme.h"
#include "slab.h"
#include "team.h"

/* What a group works on. */
struct task {
    const struct problem *problem;
    const struct scheme *scheme;
};

/* Members with rows stand in a ring: the domain has no end. */
static inline bool exchange_borders(MPI_Comm group, const struct slab *slab, int rank, int busy) {
    int before = (rank + busy - 1) % busy, behind = (rank + 1) % busy, rows = slab->rows.count;
    return survived(MPI_Sendrecv(row_at(slab, 0), slab->row, MPI_DOUBLE, before, 0, row_at(slab, rows), slab->row,
                                 MPI_DOUBLE, behind, 0, group, MPI_STATUS_IGNORE)) &&
           survived(MPI_Sendrecv(row_at(slab, rows - 1), slab->row, MPI_DOUBLE, behind, 1, row_at(slab, -1), slab->row,
                                 MPI_DOUBLE, before, 1, group, MPI_STATUS_IGNORE));
}

/* The whole grid at the master; `values` matters there alone. False: the group is broken. */
static inline bool solve_together(MPI_Comm group, const struct task *task, int place, double *values) {
    const int *level = task->scheme->levels[place];
    int rank, size, dims = task->scheme->dims;
    bool is_whole = true;
    MPI_Comm_rank(group, &rank);
    MPI_Comm_size(group, &size);
    int busy = size < 1 << level[0] ? size : 1 << level[0];
    struct slab slab = new_slab(task->problem, dims, level, task->scheme->finest, rows_of(level, rank, size));
    for (int i = 0; i < slab.steps && slab.rows.count > 0 && is_whole; i++) {
        is_whole = exchange_borders(group, &slab, rank, busy);
        step(&slab);
    }
    if (is_whole) {
        int *counts = room((size_t)size, sizeof *counts), *offsets = room((size_t)size, sizeof *offsets);
        for (int member = 0; member < size; member++) {
            struct rows rows = rows_of(level, member, size);
            counts[member] = rows.count * slab.row;
            offsets[member] = rows.first * slab.row;
        }
        is_whole = survived(
            MPI_Gatherv(row_at(&slab, 0), counts[rank], MPI_DOUBLE, values, counts, offsets, MPI_DOUBLE, 0, group));
        free(counts);
        free(offsets);
    }
    free_slab(&slab);
    return is_whole;
}

/* Returns when the manager says so, or when the group is broken. */
static inline void work(MPI_Comm group, const struct task *task) {
    struct message command;
    while (survived(MPI_Bcast(&command, 2, MPI_INT, 0, group))) {
        if (command.word == word_stop) return;
        if (!solve_together(group, task, command.place, NULL)) break;
    }
    MPIX_Comm_revoke(group);
}

static inline bool report(MPI_Comm leaders, enum word word, int place) {
    struct message message = {(int)word, place};
    return survived(MPI_Send(&message, 2, MPI_INT, 0, tag_report, leaders));
}

/* The members do together what the manager commands; false: the group is broken. */
static inline bool obey(MPI_Comm group, const struct task *task, struct message command, double **values) {
    if (!survived(MPI_Bcast(&command, 2, MPI_INT, 0, group))) return false;
    if (command.word != word_solve) return true;
    free(*values);
    *values = room(points_of(task->scheme, command.place), sizeof **values);
    return solve_together(group, task, command.place, *values);
}

/* False: the manager is dead. A group that is broken stays in the team: it only does nothing any more but say goodbye. */
static inline bool lead(MPI_Comm leaders, MPI_Comm group, const struct task *task, enum learning learning) {
    struct message command = {0};
    double *values = NULL;
    bool is_broken = false, is_managed = true;
    while (is_managed && command.word != word_stop) {
        is_managed = survived(MPI_Recv(&command, 2, MPI_INT, 0, tag_command, leaders, MPI_STATUS_IGNORE));
        if (!is_managed) break;
        if (command.word == word_deliver) {
            int points = (int)points_of(task->scheme, command.place);
            is_managed = survived(MPI_Send(values, points, MPI_DOUBLE, 0, tag_values, leaders));
            continue;
        }
        if (!is_broken && !obey(group, task, command, &values)) {
            is_broken = true;
            MPIX_Comm_revoke(group);
        }
        if (command.word != word_solve) continue;
        if (!is_broken) is_managed = report(leaders, word_done, command.place);
        else if (learning == learning_told) is_managed = report(leaders, word_broken, command.place);
    }
    if (is_managed) is_managed = report(leaders, word_goodbye, 0);
    if (!is_managed) MPIX_Comm_revoke(group);
    free(values);
    return is_managed;
}

#endif
