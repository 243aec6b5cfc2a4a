#include "app/window/evidence/reference_shelf.h"

#include "app/document/background.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

namespace orrery::app {

namespace {

/// A table that is opened again takes its old place.
ReferenceTablesPtr joined(const std::vector<ReferenceTable>& before, std::vector<ReferenceTable> fresh) {
    auto all = std::make_shared<std::vector<ReferenceTable>>(before);
    for (ReferenceTable& table : fresh) {
        if (table.rows.empty() && table.file.empty()) continue;
        const auto same = std::ranges::find_if(
            *all, [&](const ReferenceTable& old) { return old.file == table.file && old.name == table.name; });
        if (same == all->end()) {
            all->push_back(std::move(table));
        } else {
            *same = std::move(table);
        }
    }
    return all;
}

}  // namespace

ReferenceShelf::ReferenceShelf(QObject* parent) : QObject(parent), reading_(new Background(this)) {
    connect(reading_, &Background::ended, this, [this] { emit readingChanged(false); });
}

bool ReferenceShelf::isReading() const {
    return reading_->isRunning();
}

void ReferenceShelf::readShipped() {
    if (std::exchange(shipped_, true)) return;
    emit readingChanged(true);
    reading_->start([this, before = tables_](std::stop_token, Progress&) -> Background::Finish {
        const ReferenceTablesPtr all = joined(*before, shippedReferences());
        return [this, all, index = std::make_shared<const ReferenceIndex>(all)] { show(all, index); };
    });
}

void ReferenceShelf::open(const QStringList& files, const QString& device,
                          std::shared_ptr<const ImportDescription> mapping) {
    std::vector<std::string> paths;
    for (const QString& file : files) paths.push_back(file.toStdString());
    ReadOptions options;
    options.device = device.toStdString();
    options.mapping = std::move(mapping);
    read({{paths, options}});
}

void ReferenceShelf::open(const QStringList& files, const std::map<std::string, std::string>& imports) {
    std::vector<std::pair<std::vector<std::string>, ReadOptions>> groups(1);
    for (const QString& file : files) {
        const std::string path = file.toStdString();
        const auto own = imports.find(path);
        if (own == imports.end()) {
            groups.front().first.push_back(path);
            continue;
        }
        auto description = importOf(own->second);
        if (!description) return emit refused(description.error());
        ReadOptions options;
        options.mapping = std::make_shared<const ImportDescription>(std::move(*description));
        groups.push_back({{path}, options});
    }
    if (groups.front().first.empty()) groups.erase(groups.begin());
    read(std::move(groups));
}

void ReferenceShelf::read(std::vector<std::pair<std::vector<std::string>, ReadOptions>> groups) {
    emit readingChanged(true);
    reading_->start(
        [this, groups = std::move(groups), before = tables_](std::stop_token, Progress&) -> Background::Finish {
            ReferenceTablesPtr all = before;
            for (const auto& [files, options] : groups) {
                auto read = readReferences(files, options);
                if (!read) {
                    return [this, why = read.error()] {
                        emit refused(why);
                        if (why.code == "reference.unknown-table") emit unknown(ui::qs(why.place.file));
                    };
                }
                all = joined(*all, std::move(*read));
            }
            return [this, all, index = std::make_shared<const ReferenceIndex>(all)] { show(all, index); };
        });
}

void ReferenceShelf::show(ReferenceTablesPtr tables, std::shared_ptr<const ReferenceIndex> index) {
    tables_ = std::move(tables);
    index_ = std::move(index);
    emit changed();
}

void ReferenceShelf::remove(int table) {
    auto all = std::make_shared<std::vector<ReferenceTable>>(*tables_);
    all->erase(all->begin() + table);
    show(all, std::make_shared<const ReferenceIndex>(all));
}

QString summaryOf(const ReferenceTable& table) {
    QStringList devices;
    for (const ReferenceDevice& device : table.devices)
        devices << ui::qs(device.catalogue.empty() ? device.name : device.catalogue);
    devices.removeDuplicates();
    return ReferenceShelf::tr("%1 rows · %2 · %3")
        .arg(ui::countText(static_cast<double>(table.rows.size())), ui::qs(toText(table.kind)),
             devices.join(QStringLiteral(", ")));
}

}  // namespace orrery::app
