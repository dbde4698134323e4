/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions and constants of the MPI library, and what the recorder wraps of them. */
#ifndef SKELGEN_MPI_LIBRARY_H
#define SKELGEN_MPI_LIBRARY_H

#include "base/state.h"

/*
 * The addresses of Open MPI's predefined objects are symbols of its library. The shim is loaded
 * into programs without MPI too, so it looks them up when MPI is there.
 */
#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)skelgen_symbol(#global))
#endif

/* clang-format off */
#define SKELGEN_PMPI(X) \
	X(Abort) X(Allgather) X(Allreduce) X(Barrier) X(Bcast) X(Cart_get) X(Cart_shift) X(Cartdim_get) X(Comm_dup) \
	X(Comm_free) X(Comm_get_errhandler) X(Comm_get_parent) X(Comm_group) X(Comm_rank) X(Comm_remote_group) \
	X(Comm_set_errhandler) X(Comm_size) X(Comm_split) X(Comm_split_type) X(Comm_test_inter) X(Dist_graph_neighbors) \
	X(Dist_graph_neighbors_count) X(Errhandler_free) X(Error_class) X(Finalize) X(Get_library_version) X(Get_version) \
	X(Graph_neighbors) X(Graph_neighbors_count) X(Group_free) X(Group_rank) \
	X(Group_size) X(Group_translate_ranks) X(Op_commutative) X(Query_thread) X(Recv) X(Reduce) X(Send) X(Test_cancelled) \
	X(Topo_test) X(Type_free) X(Type_get_contents) X(Type_get_envelope) X(Type_get_extent) X(Type_get_name) \
	X(Type_get_true_extent) X(Type_size_x) X(Win_get_group)
/*
 * From Fortran's handles to C's: macros where handles are the same numbers in both languages. The
 * binary interface of MPI 5 knows of integers only.
 */
#define SKELGEN_WITH_FORTRAN(X, suffix) \
	X(Comm##suffix) X(Group##suffix) X(Info##suffix) X(Message##suffix) X(Op##suffix) \
	X(Request##suffix) X(Type##suffix) X(Win##suffix)
#if defined(MPI_ABI_VERSION)
typedef int MPI_Fint;
#define SKELGEN_PMPI_F2C(X) SKELGEN_WITH_FORTRAN(X, _fromint) X(File_fromint)
#define skelgen_f2c(kind, handle) pmpi.kind##_fromint(*(const MPI_Fint *)(handle))
#define skelgen_file_f2c(handle) skelgen_f2c(File, handle)
#else
#if defined(MPI_Comm_f2c)
#define SKELGEN_PMPI_F2C(X) X(File_f2c)
#define skelgen_f2c(kind, handle) MPI_##kind##_f2c(*(const MPI_Fint *)(handle))
#else
#define SKELGEN_PMPI_F2C(X) SKELGEN_WITH_FORTRAN(X, _f2c) X(File_f2c)
#define skelgen_f2c(kind, handle) pmpi.kind##_f2c(*(const MPI_Fint *)(handle))
#endif
/* A pointer in every library. */
#define skelgen_file_f2c(handle) pmpi.File_f2c(*(const MPI_Fint *)(handle))
#endif
/* clang-format on */
#define SKELGEN_PMPI_FIELD(name) __typeof__(&PMPI_##name) name;
extern struct skelgen_pmpi {
	SKELGEN_PMPI(SKELGEN_PMPI_FIELD) SKELGEN_PMPI_F2C(SKELGEN_PMPI_FIELD)
} pmpi;
extern const char skelgen_library[];           /* generated: path of the MPI library */
extern const char *const skelgen_real_names[]; /* generated, ends with NULL */
extern void *const skelgen_real_table;         /* generated: pointers in the same order */
extern bool skelgen_resolved;
void skelgen_resolve(void);
void *skelgen_symbol(const char *name);
const char *skelgen_library_path(void);

/* MPI's constants; in Open MPI they are addresses known only at run time. */
extern struct skelgen_constants {
	MPI_Comm comm_null;
	MPI_Comm comm_world;
	MPI_Comm comm_self;
	MPI_Request request_null;
	MPI_Datatype datatype_null;
} mpi;

/* build/functions.c, generated: what is in mpi_calls.toml and in this library */
#define SKELGEN_HIDDEN __attribute__((visibility("hidden")))
struct skelgen_function {
	uint32_t id;
	uint32_t kind;
	const char *name;
};
extern const struct skelgen_function skelgen_functions[];
extern const size_t skelgen_function_count;
/* Calls passed on, in the order of the table, and time inside those that communicate. */
extern uint64_t skelgen_passed[] SKELGEN_HIDDEN;
extern uint64_t skelgen_passed_units[] SKELGEN_HIDDEN;

#endif
