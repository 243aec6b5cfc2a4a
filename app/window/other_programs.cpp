#include "app/window/other_programs.h"

#include "app/document/background.h"
#include "app/document/commands/project_edits.h"
#include "app/window/form_parts.h"
#include "methods/adapter/adapter_method.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::app {

namespace {

QString joined(const std::vector<std::string>& words) {
    QStringList all;
    for (const std::string& word : words) all << ui::qs(word);
    return all.join(QStringLiteral("; "));
}

QString answersOf(const Adapter& adapter) {
    QStringList words;
    for (const KernelKind kind : adapter.takes) words << ui::qs(toText(kind)).replace('-', ' ');
    if (words.size() > 3) words = words.mid(0, 3) << QStringLiteral("…");
    if (adapter.level != MethodLevel::Kernel)
        for (const TaskKind task : adapter.tasks) words << ui::qs(toText(task)).replace('-', ' ');
    return words.join(QStringLiteral(", "));
}

QString paragraph(const QString& title, const QString& text) {
    if (text.isEmpty()) return {};
    return QStringLiteral("<p style='margin:0 0 6px 0'><b>%1</b> %2</p>")
        .arg(title.toHtmlEscaped(), text.toHtmlEscaped());
}

}  // namespace

OtherPrograms::OtherPrograms(Document& document, QWidget* parent)
    : QDialog(parent), document_(document), work_(new Background(this)) {
    setObjectName(QStringLiteral("otherPrograms"));
    setWindowTitle(tr("Other programs"));
    const int unit = ui::Theme::instance().unit();
    resize(90 * unit, 62 * unit);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(2 * unit, 2 * unit, 2 * unit, 2 * unit);
    column->setSpacing(unit);
    auto* what = new ui::Label(tr("Programs installed on this computer can answer as methods. For a program that is "
                                  "not installed, you can load its recorded output."),
                               ui::FontRole::Body, ui::Tone::Muted, this);
    what->setWordWrap(true);
    column->addWidget(what);
    list_ = named(new QTreeWidget(this), "otherPrograms.list", tr("Other programs"),
                  tr("Programs that adapters describe, and whether they were found"));
    list_->setColumnCount(4);
    list_->setHeaderLabels({tr("Program"), tr("State"), tr("Answers"), tr("Methodology")});
    list_->setRootIsDecorated(false);
    list_->setUniformRowHeights(true);
    list_->setMinimumHeight(24 * unit);
    list_->header()->setStretchLastSection(false);
    list_->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    list_->header()->setSectionResizeMode(2, QHeaderView::Stretch);
    column->addWidget(list_, 3);
    detail_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Normal, this);
    detail_->setObjectName(QStringLiteral("otherPrograms.detail"));
    detail_->setTextFormat(Qt::RichText);
    detail_->setWordWrap(true);
    detail_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    detail_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(detail_, 2);
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    state_->setObjectName(QStringLiteral("otherPrograms.state"));
    state_->setWordWrap(true);
    column->addWidget(state_);
    auto* buttons = new QDialogButtonBox(this);
    const auto button = [&](const char* id, const QString& text, const QString& tip) {
        return named(buttons->addButton(text, QDialogButtonBox::ActionRole), id, text, tip);
    };
    ask_ =
        button("otherPrograms.ask", tr("Ask it"), tr("Adds the program to the methods of this project; Run asks it"));
    recorded_ = button("otherPrograms.recorded", tr("Read recorded output …"),
                       tr("Adds the program's recorded output, from a folder"));
    file_ = button("otherPrograms.file", tr("Open an adapter …"), tr("A file that describes your own program"));
    again_ = button("otherPrograms.again", tr("Look again"), tr("Looks for every program once more"));
    auto* close =
        named(buttons->addButton(QDialogButtonBox::Close), "otherPrograms.close", tr("Close"), tr("Close (Esc)"));
    column->addWidget(buttons);
    for (QPushButton* each : {recorded_, file_, again_, close}) each->setAutoDefault(false);
    for (const AdapterPtr& each : shippedAdapters().all) rows_.push_back({each, nullptr});
    connect(list_, &QTreeWidget::currentItemChanged, this, &OtherPrograms::showChosen);
    connect(list_, &QTreeWidget::itemActivated, this, [this] {
        if (ask_->isEnabled()) ask_->click();
    });
    connect(ask_, &QPushButton::clicked, this, [this] {
        if (const Row* row = chosen()) ask(ui::qs(row->adapter->id));
    });
    connect(recorded_, &QPushButton::clicked, this, &OtherPrograms::readRecorded);
    connect(file_, &QPushButton::clicked, this, &OtherPrograms::openFile);
    connect(again_, &QPushButton::clicked, this, &OtherPrograms::look);
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(&document_, &Document::methodsChanged, this, &OtherPrograms::fill);
    connect(&document_, &Document::replaced, this, &OtherPrograms::fill);
    fill();
    look();
}

OtherPrograms::~OtherPrograms() = default;

bool OtherPrograms::isLooking() const {
    return work_->isRunning();
}

void OtherPrograms::look() {
    again_->setEnabled(false);
    for (Row& row : rows_) row.found = nullptr;
    told_ = false;
    state_->setTone(ui::Tone::Muted);
    lookAt(0);
}

// One after the other, so that what is known stands there while a slow program is asked for its version.
void OtherPrograms::lookAt(std::size_t at) {
    if (at >= rows_.size()) {
        const auto here = std::ranges::count_if(rows_, [](const Row& row) { return row.found && row.found->found(); });
        if (!told_) state_->setFullText(tr("%1 of %2 are here.").arg(here).arg(rows_.size()));
        again_->setEnabled(true);
        return;
    }
    if (!told_) state_->setFullText(tr("Looking for %1 …").arg(ui::qs(rows_[at].adapter->title)));
    work_->ask([adapter = rows_[at].adapter](
                   std::stop_token, Progress&) { return std::make_shared<const AdapterFound>(lookFor(*adapter)); },
               [this, at](std::shared_ptr<const AdapterFound> found) {
                   rows_[at].found = std::move(found);
                   fill();
                   lookAt(at + 1);
               });
}

const OtherPrograms::Row* OtherPrograms::chosen() const {
    const int at = list_->currentItem() ? list_->indexOfTopLevelItem(list_->currentItem()) : -1;
    return at >= 0 && at < static_cast<int>(rows_.size()) ? &rows_[static_cast<std::size_t>(at)] : nullptr;
}

bool OtherPrograms::isAsked(const QString& method) const {
    return std::ranges::count(document_.state()->methods, method.toStdString()) > 0;
}

void OtherPrograms::fill() {
    const QString before = list_->currentItem() ? list_->currentItem()->text(0) : QString();
    list_->clear();
    QTreeWidgetItem* current = nullptr;
    for (const Row& row : rows_) {
        const Adapter& adapter = *row.adapter;
        QString state = tr("looking …");
        if (adapter.program.recordedOnly) {
            state = tr("recorded output only");
        } else if (row.found) {
            state = row.found->found() ? tr("found") + QLatin1Char(' ') + ui::qs(row.found->version) : tr("not found");
        }
        if (isAsked(ui::qs(adapter.id))) state = tr("asked, ") + state;
        auto* item = new QTreeWidgetItem(
            list_, {ui::qs(adapter.title), state.trimmed(), answersOf(adapter), ui::qs(toText(adapter.methodology))});
        if (row.found && row.found->found()) item->setForeground(1, ui::toneColour(ui::Tone::Good));
        if (adapter.title == before.toStdString()) current = item;
    }
    const auto here = std::ranges::find_if(rows_, [](const Row& row) { return row.found && row.found->found(); });
    // Nothing stands chosen before it is known what is here.
    if (!current && here != rows_.end()) current = list_->topLevelItem(static_cast<int>(here - rows_.begin()));
    list_->setCurrentItem(current);
    showChosen();
}

void OtherPrograms::showChosen() {
    const Row* row = chosen();
    recorded_->setEnabled(row);
    const bool here = row && row->found && row->found->found();
    const bool already = row && isAsked(ui::qs(row->adapter->id));
    ask_->setEnabled(here && !already);
    ask_->setDefault(here && !already);
    ask_->setText(already ? tr("Asked") : tr("Ask it"));
    if (!row) return;
    const Adapter& adapter = *row->adapter;
    QString text = QStringLiteral("<p style='margin:0 0 6px 0'>%1</p>").arg(ui::qs(adapter.summary).toHtmlEscaped());
    text += paragraph(tr("Needs:"), joined(adapter.needs));
    if (here) text += paragraph(tr("Here:"), ui::qs(row->found->program));
    if (row->found && !here)
        text += paragraph(adapter.program.recordedOnly ? tr("How:") : tr("Not here:"), ui::qs(row->found->why));
    if (!here) text += paragraph(tr("Where it comes from:"), ui::qs(adapter.program.install));
    text += paragraph(tr("Breaks where:"), ui::qs(adapter.fails));
    text += paragraph(tr("Tried:"), ui::qs(adapter.tried));
    detail_->setText(text);
}

void OtherPrograms::ask(const QString& method) {
    const auto choice = methodChoice(method.toStdString(), builtinMethods());
    if (!choice) {
        state_->setTone(ui::Tone::Bad);
        state_->setFullText(ui::windowText(toText(choice.error())));
        return;
    }
    std::vector<std::string> methods = document_.state()->methods;
    const std::string text = toText(*choice);
    if (std::ranges::count(methods, text) == 0) methods.push_back(text);
    if (auto done = document_.apply(setMethodsEdit(*document_.state(), methods)); !done) {
        emit refused(done.error());
        return;
    }
    told_ = true;
    state_->setTone(ui::Tone::Good);
    state_->setFullText(
        tr("%1 is now one of the methods of this project. Run (F5) starts it.").arg(ui::qs(methodTitle(text))));
    emit asked(ui::qs(text));
}

void OtherPrograms::readRecorded() {
    const Row* row = chosen();
    if (!row) return;
    const QString folder = QFileDialog::getExistingDirectory(
        this, tr("Recorded output of %1").arg(ui::qs(row->adapter->title)), QString(), QFileDialog::ShowDirsOnly);
    if (!folder.isEmpty()) ask(QStringLiteral("%1(recorded=%2)").arg(ui::qs(row->adapter->id), folder));
}

void OtherPrograms::openFile() {
    const QString file = QFileDialog::getOpenFileName(this, tr("An adapter"), QString(), tr("Adapters (*.yaml *.yml)"));
    if (file.isEmpty()) return;
    const auto adapter = findAdapter(file.toStdString());
    if (!adapter) {
        state_->setTone(ui::Tone::Bad);
        state_->setFullText(ui::windowText(toText(adapter.error())));
        return;
    }
    ask(QStringLiteral("adapter(file=%1)").arg(file));
}

}  // namespace orrery::app
