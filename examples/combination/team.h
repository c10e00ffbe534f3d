/*
 * Who does what: rank 0 is the manager, the others are groups, and the first of each group is its master (chapter 4 of Walter's
 * thesis, docs/papers.md).
 *
 * A group solves one grid at a time. The manager sends its master a command and hears a report from it; workers know their group
 * alone. A death breaks the group: whoever notices it revokes the group's communicator, so that no member waits for another for
 * ever, and the group takes no more commands.
 */
#ifndef TEAM_H
#define TEAM_H

#include <mpi-ext.h>
#include <mpi.h>
#include <stdbool.h>

#include "room.h"

enum tag { tag_command = 1, tag_report, tag_values, tag_watch };

/* What a leader sends: a word, and a grid by its place in the scheme. */
enum word { word_solve = 1, word_deliver, word_stop, word_done, word_broken, word_goodbye };
struct message {
    int word, place;
};

/*
 * How the manager learns that a worker is dead (6.1): its master tells, or the manager watches the whole world by a receive that
 * nobody ever sends to. The death of a master it notices either way.
 */
enum learning { learning_told, learning_watch };

/* Did the call succeed? Otherwise a process is dead, or the communicator is revoked; any other error ends the program. */
static inline bool survived(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    if (code == MPI_SUCCESS) return true;
    MPI_Error_class(code, &class);
    if (class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING || class == MPIX_ERR_REVOKED) return false;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "%s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return false;
}

struct team {
    MPI_Comm all;     /* everybody; the manager is rank 0 */
    MPI_Comm leaders; /* the manager and the masters: group g's is rank g + 1; MPI_COMM_NULL at workers */
    MPI_Comm group;   /* the own group, its master first; MPI_COMM_NULL at the manager */
    int groups;
    int *first;       /* by group: its master's rank in `all`; one more for the end of the last group */
};

/* False: somebody is dead, or has met the death of another. */
static inline bool divide(struct team *team, int group_size) {
    int rank, size, mine = MPI_UNDEFINED;
    MPI_Comm_rank(team->all, &rank);
    MPI_Comm_size(team->all, &size);
    int workers = size - 1;
    team->groups = workers > group_size ? workers / group_size : 1;
    team->first = room((size_t)team->groups + 1, sizeof *team->first);
    for (int group = 0; group <= team->groups; group++) {
        team->first[group] = 1 + (group * workers + team->groups - 1) / team->groups;
        if (group < team->groups && rank >= team->first[group]) mine = group;
    }
    bool is_leader = rank == 0 || team->first[mine] == rank;
    bool is_good = survived(MPI_Comm_split(team->all, mine, rank, &team->group)) &&
                   survived(MPI_Comm_split(team->all, is_leader ? 0 : MPI_UNDEFINED, rank, &team->leaders));
    if (!is_good) MPIX_Comm_revoke(team->all);
    return is_good;
}

/*
 * Who dies while the team is made is no part of it: the survivors try again. Where the program sees no deaths there is nothing to
 * agree on. False: nobody is left to work with.
 */
static inline bool assemble(struct team *team, int group_size) {
    int *sees_deaths, is_known;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &sees_deaths, &is_known);
    for (team->all = MPI_COMM_WORLD;;) {
        int size, is_good;
        MPI_Comm_size(team->all, &size);
        if (size < 2) return false;
        is_good = divide(team, group_size);
        if (!is_known || !*sees_deaths) return is_good;
        MPIX_Comm_agree(team->all, &is_good); /* the same answer at everybody, whoever dies now */
        if (is_good) return true;
        MPI_Comm survivors;
        MPIX_Comm_shrink(team->all, &survivors);
        team->all = survivors;
    }
}

#endif
