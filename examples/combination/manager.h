/*
 * The manager: gives grids to groups, learns of deaths, and mends the combination.
 *
 * A grid whose group breaks is lost and not solved again. The general coefficient problem says what the best combination without
 * it is; grids that this one needs and nobody has solved yet, all of them smaller than the lost one, are given to groups as any
 * other. So a death costs a little accuracy and hardly any time. When no group is left the manager combines what it has been
 * given, and solves small grids itself.
 */
#ifndef MANAGER_H
#define MANAGER_H

#include "coefficients.h"
#include "group.h"

/* What is done about a lost grid: other coefficients for smaller grids too, or for the classic grids alone. */
enum repair { repair_smaller, repair_weights };

struct group_state {
    MPI_Group processes;
    int busy_with; /* the grid that it has been given; -1: none */
    bool is_broken;
    bool is_gone;  /* dead, or it has said goodbye */
};

struct manager {
    const struct task *task;
    const struct team *team;
    enum repair repair;
    bool is_watching;
    struct group_state *groups;
    int *coefficients;  /* by place */
    double **solutions; /* by place; NULL: not solved */
    bool *is_lost;      /* by place */
    int *lost;          /* places, in the order in which they were lost */
    int lost_count;
    struct message report;
    int never;          /* where the watching receive would put what nobody sends */
    MPI_Request requests[2]; /* of a report, and of a death: from anybody in the world, of what nobody sends */
};

/* The best combination without the grids that are lost. The smallest grid can always be had: the manager can solve it itself. */
static inline void plan(struct manager *manager) {
    const struct scheme *scheme = manager->task->scheme;
    bool *is_available = room((size_t)scheme->count, sizeof *is_available);
    for (int place = 0; place < scheme->count; place++) {
        bool may_be_used = manager->repair == repair_smaller || is_classic(scheme, place);
        is_available[place] = place == 0 || (may_be_used && !manager->is_lost[place]);
    }
    best_coefficients(scheme, is_available, manager->coefficients);
    free(is_available);
}

static inline void lose(struct manager *manager, int place) {
    if (!manager->is_lost[place]) manager->lost[manager->lost_count++] = place;
    manager->is_lost[place] = true;
}

static inline bool is_missing(const struct manager *manager, int place) {
    return manager->coefficients[place] != 0 && manager->solutions[place] == NULL;
}

/* The largest grid of the combination that is not solved, and that no group is busy with if `is_free`; -1: there is none. */
static inline int missing(const struct manager *manager, bool is_free) {
    const struct scheme *scheme = manager->task->scheme;
    int largest = -1;
    for (int place = 0; place < scheme->count; place++) {
        bool is_wanted = is_missing(manager, place);
        for (int i = 0; i < manager->team->groups && is_free; i++) {
            const struct group_state *group = &manager->groups[i];
            if (!group->is_broken && group->busy_with == place) is_wanted = false;
        }
        if (is_wanted && (largest < 0 || total_of(scheme, place) > total_of(scheme, largest))) largest = place;
    }
    return largest;
}

static inline void give_up(struct manager *manager, struct group_state *group) {
    if (group->is_broken) return;
    group->is_broken = true;
    if (group->busy_with < 0) return;
    lose(manager, group->busy_with);
    plan(manager);
}

/* Acknowledges the dead, so that receives from anybody go on, and gives up their groups (6.1, by the intersection of groups). */
static inline void bury_those_of(struct manager *manager, MPI_Comm comm) {
    MPI_Group dead;
    MPIX_Comm_failure_ack(comm);
    MPIX_Comm_failure_get_acked(comm, &dead);
    for (int i = 0; i < manager->team->groups; i++) {
        struct group_state *group = &manager->groups[i];
        MPI_Group both;
        int count, master = 0, its_rank;
        MPI_Group_intersection(dead, group->processes, &both);
        MPI_Group_size(both, &count);
        MPI_Group_translate_ranks(group->processes, 1, &master, dead, &its_rank);
        if (its_rank != MPI_UNDEFINED) group->is_gone = true;
        if (count > 0) give_up(manager, group);
        MPI_Group_free(&both);
    }
    MPI_Group_free(&dead);
}

static inline void bury(struct manager *manager) {
    bury_those_of(manager, manager->team->leaders);
    if (manager->is_watching) bury_those_of(manager, manager->team->all);
}

/* False: the master is dead. */
static inline bool command(struct manager *manager, int group, enum word word, int place) {
    struct message message = {(int)word, place};
    return survived(MPI_Send(&message, 2, MPI_INT, group + 1, tag_command, manager->team->leaders));
}

static inline void hand_out(struct manager *manager) {
    for (int i = 0; i < manager->team->groups; i++) {
        struct group_state *group = &manager->groups[i];
        if (group->is_broken || group->busy_with >= 0) continue;
        int place = missing(manager, true);
        if (place < 0) return;
        group->busy_with = place;
        if (!command(manager, i, word_solve, place)) bury(manager);
    }
}

static inline void collect(struct manager *manager, int group, int place) {
    int points = (int)points_of(manager->task->scheme, place);
    double *values = room((size_t)points, sizeof *values);
    bool is_here = command(manager, group, word_deliver, place) &&
                   survived(MPI_Recv(values, points, MPI_DOUBLE, group + 1, tag_values, manager->team->leaders,
                                     MPI_STATUS_IGNORE));
    if (!is_here) {
        free(values);
        bury(manager);
        return;
    }
    manager->solutions[place] = values;
    manager->groups[group].busy_with = -1;
}

static inline void expect_report(struct manager *manager) {
    MPI_Irecv(&manager->report, 2, MPI_INT, MPI_ANY_SOURCE, tag_report, manager->team->leaders, &manager->requests[0]);
}

/* Waits for a report or a death, and acts on it. */
static inline void listen_to_all(struct manager *manager) {
    MPI_Status status;
    int index;
    if (!survived(MPI_Waitany(2, manager->requests, &index, &status))) {
        bury(manager);
        return;
    }
    struct message message = manager->report;
    int sender = status.MPI_SOURCE - 1;
    struct group_state *group = &manager->groups[sender];
    expect_report(manager);
    if (message.word == word_goodbye) group->is_gone = true;
    /* A group that the manager has given up may have been through in time. It counts as broken all the same. */
    else if (group->is_broken) return;
    else if (message.word == word_broken) give_up(manager, group);
    else collect(manager, sender, message.place);
}

/* Groups that are not broken, or of those the busy ones. */
static inline int working_groups(const struct manager *manager, bool is_busy) {
    int count = 0;
    for (int i = 0; i < manager->team->groups; i++) {
        const struct group_state *group = &manager->groups[i];
        count += !group->is_broken && (!is_busy || group->busy_with >= 0);
    }
    return count;
}

/* All groups are broken: classic grids that are not solved by now are lost, and the small ones left are no work. */
static inline void go_on_alone(struct manager *manager) {
    const struct scheme *scheme = manager->task->scheme;
    for (int place = 0; place < scheme->count; place++) {
        if (is_classic(scheme, place) && manager->solutions[place] == NULL) lose(manager, place);
    }
    plan(manager);
    for (int place = 0; place < scheme->count; place++) {
        if (!is_missing(manager, place)) continue;
        manager->solutions[place] = room(points_of(scheme, place), sizeof(double));
        solve_alone(manager->task->problem, scheme->dims, scheme->levels[place], scheme->finest, manager->solutions[place]);
    }
}

/* Every master that lives says goodbye; so everything that was sent is received. No other report counts any more. */
static inline void dismiss(struct manager *manager) {
    int groups = manager->team->groups;
    for (int i = 0; i < groups; i++) manager->groups[i].is_broken = true;
    for (int i = 0; i < groups; i++) {
        if (!manager->groups[i].is_gone && !command(manager, i, word_stop, 0)) bury(manager);
    }
    for (int i = 0; i < groups; i++) {
        while (!manager->groups[i].is_gone) listen_to_all(manager);
        MPI_Group_free(&manager->groups[i].processes);
    }
    for (int i = 0; i < 2; i++) {
        if (manager->requests[i] == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&manager->requests[i]);
        MPI_Wait(&manager->requests[i], MPI_STATUS_IGNORE);
    }
}

/* Solves and combines; afterwards coefficients, solutions and lost are the result. */
static inline void manage(struct manager *manager, enum learning learning) {
    const struct team *team = manager->team;
    size_t count = (size_t)manager->task->scheme->count;
    MPI_Group everybody;
    manager->coefficients = room(count, sizeof(int));
    manager->solutions = room(count, sizeof(double *));
    manager->is_lost = room(count, sizeof(bool));
    manager->lost = room(count, sizeof(int));
    manager->groups = room((size_t)team->groups, sizeof *manager->groups);
    MPI_Comm_group(team->all, &everybody);
    for (int i = 0; i < team->groups; i++) {
        int range[1][3] = {{team->first[i], team->first[i + 1] - 1, 1}};
        manager->groups[i].busy_with = -1;
        MPI_Group_range_incl(everybody, 1, range, &manager->groups[i].processes);
    }
    MPI_Group_free(&everybody);
    manager->is_watching = learning == learning_watch;
    manager->requests[1] = MPI_REQUEST_NULL;
    if (manager->is_watching) {
        MPI_Irecv(&manager->never, 1, MPI_INT, MPI_ANY_SOURCE, tag_watch, team->all, &manager->requests[1]);
    }
    expect_report(manager);
    plan(manager);
    while (missing(manager, false) >= 0) {
        if (working_groups(manager, false) == 0) go_on_alone(manager);
        else hand_out(manager);
        /* Whoever was given something may be dead already. */
        if (working_groups(manager, true) > 0) listen_to_all(manager);
    }
    dismiss(manager);
}

#endif
