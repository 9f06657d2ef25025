/* A host application in C99 that acts by what was trained elsewhere: no compiler, environment or plugin is at hand. */
#include <nacelle/policy.h>
#include <stdio.h>
#include <string.h>

static int refused(const char* path, const char* name, const char* word) {
    nacelle_trained_policy* const policy = nacelle_policy_open(path, name, NULL);
    const int good = policy == NULL && strstr(nacelle_policy_error(), word) != NULL;
    if (!good) printf("was not refused for '%s': %s\n", word, nacelle_policy_error());
    nacelle_policy_close(policy);
    return good;
}

int main(int count, char** arguments) {
    const float seen[3 * 4] = {0.0f, 0.0f, 0.1f, 1.0f, 0.0f, 0.0f, -0.1f, -1.0f, 1e30f, 0.0f, 0.0f, 0.0f};
    const uint8_t masks[3 * 2] = {0, 1, 1, 0, 0, 1};
    float actions[3], again[3], wrong[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    nacelle_trained_policy* policy;
    nacelle_gpu_policy* there;
    int good, i;
    if (count != 2) return 2;
    policy = nacelle_policy_open(arguments[1], NULL, NULL);
    if (!policy) {
        puts(nacelle_policy_error());
        return 1;
    }
    good = nacelle_policy_inputs(policy) == 4 && nacelle_policy_choices(policy) == 2 &&
           nacelle_policy_parts(policy) == 1;
    good = nacelle_policy_act(policy, 3, seen, NULL, actions) == 0 && good;
    for (i = 0; i < 3; ++i) good = (actions[i] == 0.0f || actions[i] == 1.0f) && good;
    good = nacelle_policy_act(policy, 3, seen, masks, actions) == 0 && good;
    good = actions[0] == 1.0f && actions[1] == 0.0f && actions[2] == 1.0f && good;
    nacelle_policy_seed(policy, 7);
    good = nacelle_policy_sample(policy, 3, seen, masks, actions) == 0 && good;
    nacelle_policy_seed(policy, 7);
    good = nacelle_policy_sample(policy, 3, seen, masks, again) == 0 &&
           memcmp(actions, again, sizeof actions) == 0 && good;
    wrong[2] = wrong[2] / wrong[3];
    good = nacelle_policy_act(policy, 1, wrong, NULL, actions) != 0 &&
           strstr(nacelle_policy_error(), "not finite") != NULL && good;
    there = nacelle_gpu_policy_open(policy);
    good = (there != NULL || strstr(nacelle_policy_error(), "cuda") != NULL) && good;
    good = nacelle_gpu_policy_act(there, 1, NULL, NULL, actions, NULL) != 0 && good;
    nacelle_gpu_policy_close(there);
    nacelle_policy_close(policy);
    good = refused("no/such/run", NULL, "does not exist") && good;
    good = refused(arguments[1], "nobody", "there is: default") && good;
    puts(good ? "acted in C" : "what C saw is wrong");
    return good ? 0 : 1;
}
