#ifndef NACELLE_POLICY_H
#define NACELLE_POLICY_H
#include <stddef.h>
#include <stdint.h>
/* Trained policies for applications in C. No exception crosses this boundary: what fails returns null or another
 * number than 0, and nacelle_policy_error() says where, what, and what there is instead. */
#ifdef __cplusplus
extern "C" {
#endif
#define NACELLE_POLICY_PUBLIC __attribute__((visibility("default")))

/* A policy that was opened. Several threads may call nacelle_policy_act() of one. */
typedef struct nacelle_trained_policy nacelle_trained_policy;

/* Opens a run's directory, the JSON of one checkpoint or a file of 'nacelle export' (.onnx, .safetensors); null where that
 * fails. `name` is that of a team's policy and may be null where there is one. `checkpoint` is "best", "latest" or a number
 * of steps; null: "best". */
NACELLE_POLICY_PUBLIC nacelle_trained_policy*
nacelle_policy_open(const char* path, const char* name, const char* checkpoint);
/* Frees it; null is nothing. */
NACELLE_POLICY_PUBLIC void nacelle_policy_close(nacelle_trained_policy* policy);

/* The numbers of one row of observations. */
NACELLE_POLICY_PUBLIC size_t nacelle_policy_inputs(const nacelle_trained_policy* policy);
/* The bytes of one row of masks, one for each choice; 0 where there are no choices. */
NACELLE_POLICY_PUBLIC size_t nacelle_policy_choices(const nacelle_trained_policy* policy);
/* The floats of one row of actions, one for each part: a choice's number or a value. */
NACELLE_POLICY_PUBLIC size_t nacelle_policy_parts(const nacelle_trained_policy* policy);
/* The floats that it remembers of one row from step to step; 0 where it remembers nothing. */
NACELLE_POLICY_PUBLIC size_t nacelle_policy_memory(const nacelle_trained_policy* policy);

/* Writes the most probable action for each of the rows; 0 where that worked. A mask's byte of 0 forbids a choice;
 * `masks` may be null. */
NACELLE_POLICY_PUBLIC int nacelle_policy_act(const nacelle_trained_policy* policy, size_t rows,
                                             const float* observations, const uint8_t* masks,
                                             float* actions);
/* Draws an action for each of the rows as training does; 0 where that worked. Each call is a step and draws other
 * numbers. */
NACELLE_POLICY_PUBLIC int nacelle_policy_sample(nacelle_trained_policy* policy, size_t rows,
                                                const float* observations, const uint8_t* masks,
                                                float* actions);
/* The same of a policy that remembers: `memory` has nacelle_policy_memory() floats a row, which are 0 where an episode
 * begins, and gets those for the next step. */
NACELLE_POLICY_PUBLIC int nacelle_policy_act_remembering(const nacelle_trained_policy* policy,
                                                         size_t rows, const float* observations,
                                                         const uint8_t* masks, float* memory,
                                                         float* actions);
NACELLE_POLICY_PUBLIC int nacelle_policy_sample_remembering(nacelle_trained_policy* policy,
                                                            size_t rows, const float* observations,
                                                            const uint8_t* masks, float* memory,
                                                            float* actions);
/* Begins an episode in a row: its memory becomes 0. */
NACELLE_POLICY_PUBLIC void nacelle_policy_forget(const nacelle_trained_policy* policy,
                                                 float* memory, size_t row);
/* Begins the draws anew: the same seed and the same calls give the same actions. */
NACELLE_POLICY_PUBLIC void nacelle_policy_seed(nacelle_trained_policy* policy, uint64_t seed);

/* A policy on this machine's first GPU. Several threads may call nacelle_gpu_policy_act() of one. */
typedef struct nacelle_gpu_policy nacelle_gpu_policy;

/* Copies a policy to the GPU; null where that fails. The policy may be closed then. */
NACELLE_POLICY_PUBLIC nacelle_gpu_policy*
nacelle_gpu_policy_open(const nacelle_trained_policy* policy);
/* Frees it; null is nothing. */
NACELLE_POLICY_PUBLIC void nacelle_gpu_policy_close(nacelle_gpu_policy* policy);
/* As nacelle_policy_act(), with the GPU's memory. The work goes on the stream, a CUstream or a cudaStream_t (null: the
 * default one), and is not waited for. */
NACELLE_POLICY_PUBLIC int nacelle_gpu_policy_act(const nacelle_gpu_policy* policy, size_t rows,
                                                 const float* observations, const uint8_t* masks,
                                                 float* actions, void* stream);
/* As nacelle_policy_sample(), likewise. */
NACELLE_POLICY_PUBLIC int nacelle_gpu_policy_sample(nacelle_gpu_policy* policy, size_t rows,
                                                    const float* observations, const uint8_t* masks,
                                                    float* actions, void* stream);
/* Begins the draws anew. */
NACELLE_POLICY_PUBLIC void nacelle_gpu_policy_seed(nacelle_gpu_policy* policy, uint64_t seed);

/* The reason of this thread's last failure; it is valid until the thread's next one. */
NACELLE_POLICY_PUBLIC const char* nacelle_policy_error(void);

#ifdef __cplusplus
}
#endif
#endif
