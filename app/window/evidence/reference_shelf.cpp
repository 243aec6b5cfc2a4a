#include "app/window/evidence/reference_shelf.h"

#include "app/window/evidence/background.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

namespace orrery::app {

ReferenceShelf::ReferenceShelf(QObject* parent) : QObject(parent), reading_(new Background(this)) {
    connect(reading_, &Background::ended, this, [this] { emit readingChanged(false); });
}

bool ReferenceShelf::isReading() const {
    return reading_->isRunning();
}

void ReferenceShelf::readShipped() {
    if (std::exchange(shipped_, true)) return;
    emit readingChanged(true);
    reading_->start([this](std::stop_token, Progress&) -> Background::Finish {
        const std::vector<ReferenceTable>* tables = &shippedReferences();
        return [this, tables] { take(*tables); };
    });
}

void ReferenceShelf::open(const QStringList& files, const QString& device) {
    std::vector<std::string> paths;
    for (const QString& file : files) paths.push_back(file.toStdString());
    ReadOptions options;
    options.device = device.toStdString();
    emit readingChanged(true);
    reading_->start([this, paths, options](std::stop_token, Progress&) -> Background::Finish {
        auto read = std::make_shared<Expected<std::vector<ReferenceTable>>>(readReferences(paths, options));
        return [this, read] {
            if (!*read) return emit refused(read->error());
            take(std::move(**read));
        };
    });
}

void ReferenceShelf::take(std::vector<ReferenceTable> tables) {
    auto all = std::make_shared<std::vector<ReferenceTable>>(*tables_);
    for (ReferenceTable& table : tables) {
        if (table.rows.empty() && table.file.empty()) continue;
        // Opened again, it takes its old place.
        const auto same = std::ranges::find_if(
            *all, [&](const ReferenceTable& old) { return old.file == table.file && old.name == table.name; });
        if (same == all->end()) {
            all->push_back(std::move(table));
        } else {
            *same = std::move(table);
        }
    }
    tables_ = std::move(all);
    emit changed();
}

void ReferenceShelf::remove(int table) {
    auto all = std::make_shared<std::vector<ReferenceTable>>(*tables_);
    all->erase(all->begin() + table);
    tables_ = std::move(all);
    emit changed();
}

QString summaryOf(const ReferenceTable& table) {
    QStringList devices;
    for (const ReferenceDevice& device : table.devices)
        devices << ui::qs(device.catalogue.empty() ? device.name : device.catalogue);
    return ReferenceShelf::tr("%1 rows · %2 · %3")
        .arg(ui::countText(static_cast<double>(table.rows.size())), ui::qs(toText(table.kind)),
             devices.join(QStringLiteral(", ")));
}

}  // namespace orrery::app
