/* What the examples of this folder have in common: the words of the command line, the team, and the lines that the manager prints. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "combined.h"
#include "manager.h"

struct options {
    int dims, least, depth;
    int group; /* processes of a group, the master included */
    enum learning learning;
    enum repair repair;
};

/* The number of a word `name=number`. */
static inline bool number_of(const char *word, const char *name, int *number) {
    size_t length = strlen(name);
    char *end;
    if (strncmp(word, name, length) != 0 || word[length] != '=') return false;
    *number = (int)strtol(word + length + 1, &end, 10);
    return end != word + length + 1 && *end == '\0';
}

/* Words `name=value`; false: there is one that means nothing. */
static inline bool parse_options(int argc, char **argv, struct options *options) {
    static const int least_of[] = {0, 0, 4, 3, 2}, depth_of[] = {0, 0, 4, 3, 3};
    *options = (struct options){.dims = 2, .least = -1, .depth = -1, .group = 2};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "learn=told") == 0) options->learning = learning_told;
        else if (strcmp(argv[i], "learn=watch") == 0) options->learning = learning_watch;
        else if (strcmp(argv[i], "repair=smaller") == 0) options->repair = repair_smaller;
        else if (strcmp(argv[i], "repair=weights") == 0) options->repair = repair_weights;
        else if (!number_of(argv[i], "dims", &options->dims) && !number_of(argv[i], "least", &options->least) &&
                 !number_of(argv[i], "depth", &options->depth) && !number_of(argv[i], "group", &options->group))
            return false;
    }
    if (options->dims < 2 || options->dims > dims_max) return false;
    if (options->least < 0) options->least = least_of[options->dims];
    if (options->depth < 0) options->depth = depth_of[options->dims];
    return options->least >= 1 && options->least <= 6 && options->depth >= 1 && options->depth <= 6 &&
           options->group >= 1 && options->group <= 1024;
}

static inline void print_level(const struct scheme *scheme, int place) {
    for (int axis = 0; axis < scheme->dims; axis++) printf("%c%d", axis == 0 ? '[' : ',', scheme->levels[place][axis]);
    printf("]");
}

static inline void tell(const struct manager *manager) {
    const struct problem *problem = manager->task->problem;
    const struct scheme *scheme = manager->task->scheme;
    int full[dims_max], dims = scheme->dims, finest = scheme->finest;
    size_t points = (size_t)1 << dims * finest;
    double *combined = room(points, sizeof(double)), *other = room(points, sizeof(double));
    for (int axis = 0; axis < dims; axis++) full[axis] = finest;
    if (manager->lost_count > 0) {
        printf("lost:");
        for (int i = 0; i < manager->lost_count; i++) {
            printf(" ");
            print_level(scheme, manager->lost[i]);
        }
        printf("\ncombined:");
        for (int place = 0; place < scheme->count; place++) {
            if (manager->coefficients[place] == 0) continue;
            printf(" %+d", manager->coefficients[place]);
            print_level(scheme, place);
        }
        printf("\n");
    }
    for (int place = 0; place < scheme->count; place++) {
        if (manager->coefficients[place] == 0) continue;
        add(combined, manager->coefficients[place], manager->solutions[place], dims, scheme->levels[place], finest);
    }
    sample(problem->exact, dims, full, rows_of(full, 0, 1), other);
    double from_exact = distance(combined, other, points);
    solve_alone(problem, dims, full, finest, other);
    printf("error %.9f, distance from the full grid's solution %.9f, bits %08x\n", from_exact,
           distance(combined, other, points), (unsigned)bits_of(combined, points));
    free(combined);
    free(other);
}

static inline int run_team(const struct task *task, const struct options *options) {
    const struct scheme *scheme = task->scheme;
    struct team team;
    int classic = 0;
    if (!assemble(&team, options->group)) {
        fprintf(stderr, "%s: there is nobody but the manager; start it with 2 ranks or more\n", task->problem->name);
        return 2;
    }
    if (team.group == MPI_COMM_NULL) {
        struct manager manager = {.task = task, .team = &team, .repair = options->repair};
        for (int place = 0; place < scheme->count; place++) classic += is_classic(scheme, place);
        printf("%s in %d dimensions, levels %d to %d: %d grids\n", task->problem->name, scheme->dims, scheme->least,
               scheme->finest, classic);
        manage(&manager, options->learning);
        tell(&manager);
    } else if (team.leaders == MPI_COMM_NULL) {
        work(team.group, task);
    } else if (!lead(team.leaders, team.group, task, options->learning)) {
        fprintf(stderr, "%s: the manager is dead, and with it the solution\n", task->problem->name);
        return 1;
    }
    return 0;
}

static inline int run_combination(int argc, char **argv, const struct problem *problem) {
    struct options options;
    int rank, code = 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (parse_options(argc, argv, &options)) {
        struct scheme scheme = new_scheme(options.dims, options.least, options.depth);
        code = run_team(&(struct task){problem, &scheme}, &options);
    } else if (rank == 0) {
        fprintf(stderr, "%s: give words of dims=2 least=4 depth=4 group=2 learn=told|watch repair=smaller|weights\n",
                problem->name);
    }
    MPI_Finalize();
    return code;
}

#endif
