#include "evaluation/shipped_rows.h"

#include "base/hash.h"
#include "evaluation/holdout.h"
#include "evaluation/reference_table.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace orrery {

namespace {

using Hashes = std::set<std::string, std::less<>>;

/// Steps by publication, as published_steps.cpp hashes those that it fits to.
const std::map<std::string, std::string, std::less<>>& stepHashes() {
    static const auto known = [] {
        std::map<std::string, Hash> hashes;
        for (const ReferenceTable& table : shippedReferences()) {
            for (std::size_t i = 0; i < table.models.size(); ++i) {
                const ModelRow& model = table.models[i];
                if (!model.publication.empty())
                    hashes[model.publication].add(toText(model.plan)).add(table.rows[i].seconds);
            }
        }
        std::map<std::string, std::string, std::less<>> texts;
        for (const auto& [publication, hash] : hashes) texts[publication] = hash.hex();
        return texts;
    }();
    return known;
}

/// Tables of kernels that ship under one of these names, ` + ` between them.
std::vector<std::int32_t> tablesNamed(std::string_view names) {
    std::vector<std::int32_t> found;
    constexpr std::string_view between = " + ";
    while (!names.empty()) {
        const std::size_t end = names.find(between);
        const std::string_view name = names.substr(0, end);
        names = end == std::string_view::npos ? std::string_view() : names.substr(end + between.size());
        const std::size_t before = found.size();
        const auto& tables = shippedReferences();
        for (std::size_t t = 0; t < tables.size(); ++t)
            if (tables[t].models.empty() && tables[t].name == name) found.push_back(static_cast<std::int32_t>(t));
        if (found.size() == before) return {};
    }
    return found;
}

/// As kernelRows() hashes what it hands to a fit: device by device, of all kinds and of each by itself.
Hashes hashesOf(const std::vector<std::int32_t>& named, std::string_view split) {
    const auto& tables = shippedReferences();
    std::vector<RowRef> rows;
    std::set<KernelKind> kinds;
    for (const std::int32_t t : named) {
        const ReferenceTable& table = tables[static_cast<std::size_t>(t)];
        for (std::size_t r = 0; r < table.rows.size(); ++r) {
            rows.push_back({t, static_cast<std::int32_t>(r)});
            kinds.insert(table.rows[r].kernel.kind);
        }
    }
    Hashes hashes;
    const auto add = [&](const std::vector<RowRef>& of) {
        Diagnostics warnings;
        for (const bool cpus : {false, true})
            if (const auto gathered = kernelRows(tables, of, warnings, cpus))
                for (const KernelRows& device : *gathered) hashes.insert(device.source.hash);
    };
    const auto holdout = readHoldout(split);
    const auto fitted = [&](const std::vector<RowRef>& of) {
        if (!holdout) return of;
        auto sides = splitRows(tables, of, *holdout);
        return sides ? std::move(sides->training) : std::vector<RowRef>();
    };
    add(fitted(rows));
    for (const KernelKind kind : kinds) {
        std::vector<RowRef> of;
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(of), [&](RowRef ref) {
            const ReferenceTable& table = tables[static_cast<std::size_t>(ref.table)];
            return table.rows[static_cast<std::size_t>(ref.row)].kernel.kind == kind;
        });
        add(fitted(of));
    }
    return hashes;
}

}  // namespace

bool rowsShip(const CalibrationSource& source, std::string_view split) {
    if (source.hash.empty()) return false;
    if (const auto steps = stepHashes().find(source.name); steps != stepHashes().end())
        if (steps->second == source.hash) return true;
    const std::vector<std::int32_t> named = tablesNamed(source.name);
    if (named.empty()) return false;
    static std::mutex lock;
    static std::map<std::string, Hashes> known;
    const std::scoped_lock held(lock);
    const std::string key = source.name + '\n' + std::string(split);
    const auto [at, fresh] = known.try_emplace(key);
    if (fresh) at->second = hashesOf(named, split);
    return at->second.contains(source.hash);
}

}  // namespace orrery
