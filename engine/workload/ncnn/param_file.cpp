#include "workload/ncnn/param_file.h"

#include "base/text/read_file.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace orrery {
namespace {

constexpr std::string_view magic = "7767517";
constexpr std::int64_t mostLayers = 100'000;
constexpr std::size_t mostItems = 4096;

std::vector<std::string_view> wordsOf(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < line.size();) {
        const auto first = line.find_first_not_of(" \t\r", at);
        if (first == std::string_view::npos) break;
        auto last = line.find_first_of(" \t\r", first);
        if (last == std::string_view::npos) last = line.size();
        words.push_back(line.substr(first, last - first));
        at = last;
    }
    return words;
}

struct Reader {
    const std::string& path;
    int line = 0;

    Unexpected bad(std::string code, std::string what, std::string expected) const {
        return fail("ncnn." + code, std::move(what), std::move(expected), "is this an ncnn .param file?",
                    Place{.file = path, .line = line});
    }

    Expected<NcnnLayer> layer(const std::vector<std::string_view>& words) const {
        NcnnLayer layer;
        layer.line = line;
        const auto inputs = words.size() < 4 ? std::nullopt : wholeIn(words[2]);
        const auto outputs = words.size() < 4 ? std::nullopt : wholeIn(words[3]);
        const auto most = static_cast<std::int64_t>(words.size());
        if (!inputs || !outputs || *inputs < 0 || *outputs < 0 || *inputs > most || *outputs > most ||
            *inputs + *outputs + 4 > most)
            return bad("bad-line", "a layer's line does not hold what it says",
                       "type, name, number of inputs, number of outputs, their blobs, key=value");
        layer.type = words[0];
        layer.name = words[1];
        std::size_t at = 4;
        for (std::int64_t i = 0; i < *inputs; ++i) layer.inputs.emplace_back(words[at++]);
        for (std::int64_t i = 0; i < *outputs; ++i) layer.outputs.emplace_back(words[at++]);
        for (; at < words.size(); ++at) {
            const auto equals = words[at].find('=');
            const auto key = equals == std::string_view::npos ? std::nullopt : wholeIn(words[at].substr(0, equals));
            if (!key) return bad("bad-line", fmt::format("“{}”", words[at].substr(0, 60)), "key=value");
            const std::string_view text = words[at].substr(equals + 1);
            std::vector<double> numbers;
            for (const std::string_view part : split(text, ',')) {
                const auto number = numberIn(part);
                if (!number || std::abs(*number) > 1e12 || numbers.size() > mostItems)
                    return bad("bad-number", fmt::format("“{}”", words[at].substr(0, 60)), "numbers between commas");
                numbers.push_back(*number);
            }
            if (*key <= -23300) {
                if (numbers.front() != static_cast<double>(numbers.size() - 1))
                    return bad("bad-number", fmt::format("“{}”", words[at].substr(0, 60)),
                               "a count and so many numbers");
                numbers.erase(numbers.begin());
                layer.arrays[static_cast<int>(-23300 - *key)] = std::move(numbers);
            } else if (*key >= 0 && *key < 64 && numbers.size() == 1) {
                layer.values[static_cast<int>(*key)] = numbers.front();
            } else {
                return bad("bad-number", fmt::format("“{}”", words[at].substr(0, 60)),
                           "a key from 0 to 63 and one number");
            }
        }
        return layer;
    }
};

}  // namespace

std::int64_t NcnnLayer::whole(int key, std::int64_t otherwise) const {
    const auto found = values.find(key);
    return found == values.end() ? otherwise : static_cast<std::int64_t>(found->second);
}

Expected<NcnnFile> readNcnnParam(const std::string& path) {
    auto text = readFile(path, {.most = std::size_t{16} << 20, .code = "ncnn.unreadable"});
    if (!text) return Unexpected(text.error());
    Reader reader{path};
    NcnnFile file;
    std::set<std::string, std::less<>> blobs;
    std::int64_t layers = -1;
    for (const std::string_view line : split(*text, '\n')) {
        ++reader.line;
        const auto words = wordsOf(line);
        if (words.empty()) continue;
        if (layers == -1) {
            if (words.size() != 1 || words.front() != magic)
                return reader.bad("not-param", "the first line is not ncnn's number", std::string(magic));
            layers = -2;
        } else if (layers == -2) {
            const auto count = words.size() == 2 ? wholeIn(words[0]) : std::nullopt;
            if (!count || *count < 1 || *count > mostLayers)
                return reader.bad("not-param", "the second line does not count layers and blobs",
                                  fmt::format("two numbers, 1 to {} layers", mostLayers));
            layers = *count;
        } else if (static_cast<std::int64_t>(file.layers.size()) == layers) {
            break;  // as ncnn reads: so many layers and no more
        } else {
            auto layer = reader.layer(words);
            if (!layer) return Unexpected(layer.error());
            for (const std::string& blob : layer->inputs) {
                if (!blobs.contains(blob))
                    return reader.bad("unknown-blob",
                                      fmt::format("{} reads “{}”, which no layer before it writes",
                                                  layer->name.substr(0, 60), blob.substr(0, 60)),
                                      "layers in the order in which they run");
            }
            for (const std::string& blob : layer->outputs) {
                if (!blobs.insert(blob).second)
                    return reader.bad("bad-line", fmt::format("“{}” is written twice", blob.substr(0, 60)),
                                      "each blob once");
            }
            file.layers.push_back(std::move(*layer));
        }
    }
    if (layers < 0) return reader.bad("not-param", "the file ends before its layers", std::string(magic));
    if (static_cast<std::int64_t>(file.layers.size()) != layers) {
        return reader.bad("truncated",
                          fmt::format("{} layers where the second line says {}", file.layers.size(), layers),
                          "all of them");
    }
    return file;
}

}  // namespace orrery
