// A GPU that does not exist, behind the C interfaces of NVIDIA's driver, cuBLAS and NVML: every product takes what its
// work takes at a stated rate, and what the host did wrong (memory kept, a call outside the context) is counted.
// Written to the file FAKE_CUDA_LOG at the end. FAKE_CUDA_BUSY, FAKE_CUDA_FREE and FAKE_CUDA_FAULT choose its state.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr double launch = 2e-6, fp32Rate = 50e12, halfRate = 800e12, int8Rate = 1600e12;

double number(const char* variable, double otherwise) {
    const char* said = std::getenv(variable);
    return said ? std::atof(said) : otherwise;
}
bool fault(const char* kind) {
    const char* said = std::getenv("FAKE_CUDA_FAULT");
    return said && std::strcmp(said, kind) == 0;
}

struct Graph {
    double seconds = 0;
};
struct State {
    double now = 0;  // of the stream
    bool capturing = false, current = false;
    Graph captured;
    std::map<unsigned long long, std::size_t> memory;
    unsigned long long next = 1ull << 40;
    std::size_t held = 0, most = 0;
    std::set<unsigned long long> weights;
    long products = 0, launches = 0, misuse = 0;
    int streams = 0, events = 0, graphs = 0, captures = 0, handles = 0, contexts = 0;
    ~State() {
        const char* file = std::getenv("FAKE_CUDA_LOG");
        if (!file) return;
        if (std::FILE* out = std::fopen(file, "w")) {
            std::fprintf(out,
                         "left=%zu most=%zu weights=%zu products=%ld launches=%ld misuse=%ld objects=%d captures=%d\n",
                         memory.size(), most, weights.size(), products, launches, misuse,
                         streams + events + graphs + handles + contexts, captures);
            std::fclose(out);
        }
    }
};
State& state() {
    static State only;
    return only;
}
int sound() {
    if (state().current) return 0;
    ++state().misuse;
    return 201;  // invalid context
}
template <class T>
int give(void** handle, int& count) {
    *handle = new T();
    ++count;
    return sound();
}
template <class T>
int take(void* handle, int& count) {
    delete static_cast<T*>(handle);
    --count;
    return sound();
}

}  // namespace

EXPORT int cuInit(unsigned) {
    state();
    return fault("init") ? 999 : 0;
}
EXPORT int cuGetErrorString(int error, const char** text) {
    *text = error == 2 ? "out of memory" : error == 201 ? "invalid context" : "unspecified failure";
    return 0;
}
EXPORT int cuDeviceGetCount(int* count) {
    return *count = 1, 0;
}
EXPORT int cuDeviceGet(int* device, int ordinal) {
    return *device = ordinal, 0;
}
EXPORT int cuDeviceGetName(char* name, int size, int) {
    return std::snprintf(name, static_cast<std::size_t>(size), "NVIDIA H100 SXM"), 0;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
    return *value = attribute == 38 ? 50 * 1024 * 1024 : 0, 0;
}
EXPORT int cuDeviceGetPCIBusId(char* bus, int size, int) {
    return std::snprintf(bus, static_cast<std::size_t>(size), "0000:00:1e.0"), 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int) {
    ++state().contexts;
    return *context = &state(), 0;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
    return --state().contexts, 0;
}
EXPORT int cuCtxSetCurrent(void* context) {
    return state().current = context != nullptr, 0;
}
EXPORT int cuMemGetInfo_v2(std::size_t* free, std::size_t* all) {
    *all = static_cast<std::size_t>(number("FAKE_CUDA_FREE", 80e9));
    *free = *all - state().held;
    return sound();
}
EXPORT int cuMemAlloc_v2(unsigned long long* at, std::size_t bytes) {
    State& s = state();
    if (fault("memory") || s.held + bytes > number("FAKE_CUDA_FREE", 80e9)) return 2;
    *at = s.next;
    s.next += bytes + 256;
    s.memory[*at] = bytes;
    s.held += bytes;
    if (s.held > s.most) s.most = s.held;
    return sound();
}
EXPORT int cuMemFree_v2(unsigned long long at) {
    State& s = state();
    const auto found = s.memory.find(at);
    if (found == s.memory.end()) return ++s.misuse, 1;
    s.held -= found->second;
    s.memory.erase(found);
    return sound();
}
EXPORT int cuMemcpyHtoD_v2(unsigned long long at, const void*, std::size_t bytes) {
    auto inside = state().memory.upper_bound(at);
    if (inside == state().memory.begin()) return ++state().misuse, 1;
    --inside;
    if (at + bytes > inside->first + inside->second) return ++state().misuse, 1;
    return sound();
}
EXPORT int cuStreamCreate(void** stream, unsigned) {
    return give<int>(stream, state().streams);
}
EXPORT int cuStreamDestroy_v2(void* stream) {
    return take<int>(stream, state().streams);
}
EXPORT int cuEventCreate(void** event, unsigned) {
    return give<double>(event, state().events);
}
EXPORT int cuEventRecord(void* event, void*) {
    return *static_cast<double*>(event) = state().now, sound();
}
EXPORT int cuEventSynchronize(void*) {
    return sound();
}
EXPORT int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
    *milliseconds = static_cast<float>(1e3 * (*static_cast<double*>(end) - *static_cast<double*>(begin)));
    return fault("timing") ? 700 : sound();
}
EXPORT int cuEventDestroy_v2(void* event) {
    return take<double>(event, state().events);
}
EXPORT int cuStreamBeginCapture_v2(void*, int) {
    state().capturing = true;
    state().captured = {};
    return sound();
}
EXPORT int cuStreamEndCapture(void*, void** graph) {
    state().capturing = false;
    ++state().captures;
    *graph = new Graph(state().captured);
    return sound();
}
EXPORT int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
    ++state().graphs;
    *exec = new Graph(*static_cast<Graph*>(graph));
    return sound();
}
EXPORT int cuGraphLaunch(void* exec, void*) {
    state().now += static_cast<Graph*>(exec)->seconds;
    ++state().launches;
    return sound();
}
EXPORT int cuGraphExecDestroy(void* exec) {
    return take<Graph>(exec, state().graphs);
}
EXPORT int cuGraphDestroy(void* graph) {
    --state().captures;
    delete static_cast<Graph*>(graph);
    return sound();
}

EXPORT int cublasCreate_v2(void** handle) {
    return give<int>(handle, state().handles);
}
EXPORT int cublasDestroy_v2(void* handle) {
    return take<int>(handle, state().handles);
}
EXPORT int cublasGetVersion_v2(void*, int* version) {
    return *version = 120304, 0;
}
EXPORT int cublasSetStream_v2(void*, void*) {
    return 0;
}

namespace {

int product(int n, int m, int k, int count, const void* weights, int type, int row, int turned, int sum) {
    State& s = state();
    if (row < (turned ? k : n)) return 7;          // invalid value
    if (type == 3 && (k % 4 || n % 4)) return 15;  // not supported
    if ((type == 3) != (sum == 72)) return 7;
    const double rate = type == 0 ? fp32Rate : type == 3 ? int8Rate : halfRate;
    const double seconds = launch + 2.0 * m * n * k * count / rate;
    s.weights.insert(reinterpret_cast<unsigned long long>(weights));
    ++s.products;
    (s.capturing ? s.captured.seconds : s.now) += seconds;
    return 0;
}

}  // namespace

EXPORT int cublasGemmEx(void*, int ta, int, int m, int n, int k, const void*, const void* a, int type, int lda,
                        const void*, int, int, const void*, void*, int, int, int sum, int) {
    return product(m, n, k, 1, a, type, lda, ta, sum);
}
EXPORT int cublasGemmStridedBatchedEx(void*, int ta, int, int m, int n, int k, const void*, const void* a, int type,
                                      int lda, long long, const void*, int, int, long long, const void*, void*, int,
                                      int, long long, int count, int sum, int) {
    return product(m, n, k, count, a, type, lda, ta, sum);
}

EXPORT int nvmlInit_v2() {
    return 0;
}
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
    return *device = &state(), std::strcmp(bus, "0000:00:1e.0") == 0 ? 0 : 6;
}
EXPORT int nvmlDeviceGetClockInfo(void*, int kind, unsigned* megahertz) {
    return *megahertz = kind == 1 ? 1755 : 0, 0;
}
EXPORT int nvmlDeviceGetUtilizationRates(void*, void* rates) {
    static_cast<unsigned*>(rates)[0] = static_cast<unsigned>(number("FAKE_CUDA_BUSY", 0));
    static_cast<unsigned*>(rates)[1] = 0;
    return 0;
}
