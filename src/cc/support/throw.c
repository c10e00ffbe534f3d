/*
 * C++ exceptions, which the toolchain's C++ library is built without. A throw ends the rank and says what was thrown; so
 * nothing is ever caught, and the functions for the other side have nothing to do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banyan.h"

/* std::type_info as the C++ ABI lays it out; `base` exists where the vtable is that of single inheritance. */
struct type_info {
    void *const *vtable;
    const char *name;
    const struct type_info *base;
};

/* The vtable of type_infos of classes with one base; its functions begin behind two words. */
extern __attribute__((weak)) void *const _ZTVN10__cxxabiv120__si_class_type_infoE[];

typedef const char *What(const void *exception);
struct object {
    What *const *vtable;
};

static int is_exception(const struct type_info *type) {
    while (strcmp(type->name, "St9exception") != 0) {
        if (type->vtable != _ZTVN10__cxxabiv120__si_class_type_infoE + 2) return 0;
        type = type->base;
    }
    return 1;
}

/*
 * Types as people write them, as far as it is easy: classes, also in namespaces, and the basic types a throw is likely to
 * name. The C++ library's own function for it is larger than most programs.
 */
static void write_type_name(char *out, size_t room, const char *mangled) {
    static const struct {
        const char *mangled;
        const char *written;
    } basic[] = {{"i", "int"}, {"j", "unsigned"}, {"l", "long"}, {"d", "double"}, {"PKc", "const char *"}, {"Pc", "char *"}};
    const char *at = mangled;
    size_t length = 0;
    for (size_t i = 0; i < sizeof basic / sizeof *basic; i++) {
        if (strcmp(mangled, basic[i].mangled) != 0) continue;
        snprintf(out, room, "%s", basic[i].written);
        return;
    }
    if (*at == 'N') at++;
    if (strncmp(at, "St", 2) == 0) {
        length += (size_t)snprintf(out, room, "std");
        at += 2;
    }
    while (*at >= '1' && *at <= '9') {
        char *name;
        const int letters = (int)strtol(at, &name, 10);
        length += (size_t)snprintf(out + length, room - length, "%s%.*s", length > 0 ? "::" : "", letters, name);
        if (length >= room) return;
        at = name + letters;
    }
    if (*at == 'E') at++;
    if (*at != '\0' || length == 0) snprintf(out, room, "%s", mangled);
}

void *__cxa_allocate_exception(size_t size) {
    void *exception = malloc(size);
    if (exception == NULL) banyan_fatal("C++ exceptions are not supported: throw while the memory is full");
    return exception;
}

void __cxa_free_exception(void *exception) { free(exception); }

void *__cxa_init_primary_exception(void *exception, const struct type_info *type, void (*destroy)(void *)) {
    (void)type, (void)destroy;
    return exception;
}

_Noreturn void __cxa_throw(void *exception, const struct type_info *type, void (*destroy)(void *)) {
    char name[128], message[512];
    (void)destroy;
    write_type_name(name, sizeof name, type->name);
    if (is_exception(type)) {
        /* Behind the two destructors. */
        const char *text = ((const struct object *)exception)->vtable[2](exception);
        snprintf(message, sizeof message, "C++ exceptions are not supported: throw of %s: %s", name, text);
    } else {
        snprintf(message, sizeof message, "C++ exceptions are not supported: throw of %s", name);
    }
    banyan_fatal(message);
}

_Noreturn void __cxa_rethrow(void) { banyan_fatal("C++ exceptions are not supported: throw; outside a handler"); }

void *__cxa_begin_catch(void *exception) { return exception; }
void __cxa_end_catch(void) {}
void *__cxa_get_exception_ptr(void *exception) { return exception; }
