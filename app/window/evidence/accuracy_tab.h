#pragma once

// The judge page: methods compared on rows that chips choose. Error against cost, methods by scenario, a sortable
// table, residuals, the worst rows.

#include "app/window/evidence/judging.h"
#include "store/judging/judging_file.h"

#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QToolButton;

class QTabWidget;

namespace orrery::ui {
class AccuracyPlot;
class CellsTable;
class Label;
class MethodMatrixView;
class ResidualPlot;
class RowChips;
}  // namespace orrery::ui

namespace orrery::app {

class Background;
class RowDetailView;

class AccuracyTab : public QWidget {
    Q_OBJECT
public:
    explicit AccuracyTab(ReferenceShelf* shelf, QWidget* parent = nullptr);
    /// What learned methods are asked with; null: what ships.
    void setCalibrations(std::shared_ptr<const CalibrationSet> calibrations);
    /// Who is judged beside all methods: fillings of methods that the project names (`recorded(trace=…)`).
    void setChoices(std::function<QStringList()> choices) { choices_ = std::move(choices); }
    void judge();
    /// As soon as the references that ship are read.
    void judgeOnceRead();
    /// The picture (SVG, PDF, PNG), the rows (CSV), all figures (JSON), the table (TeX): by the file's ending. Returns
    /// an error text; there is nothing to write before methods were judged.
    QString exportTo(const QString& file);
    /// What is asked and shown, as its file says it: rows, chips, methods, terms, results of others.
    JudgingQuestion question() const;
    /// Asks what a file says, beside the references that are open; opens those that it names.
    void ask(const JudgingQuestion& question);
    /// question() with the hash of its rows. Returns an error text.
    QString saveTo(const QString& file);
    /// Every figure and table of the page, and the pictures as PDF, into a folder that is there; pageWritten() ends it.
    void writePage(const QString& folder);
    /// Only rows of which `facet` is `word` count, and a judgement's are listed: what a mark of the survey stands for.
    void narrowTo(Facet facet, const std::string& word, int judgement);
    const std::vector<Judgement>& judgements() const { return judged_; }
    /// Nothing until the last judging has ended.
    const std::optional<Compared>& compared() const { return compared_; }
    const Comparing& comparing() const { return how_; }
    /// The rows that every method was asked about.
    const std::vector<RowRef>& asked() const { return asked_; }
    /// The tables that the judgements speak of.
    const ReferenceTablesPtr& tables() const { return tables_; }

signals:
    void judged();
    void exportRequested();
    void saveRequested();
    /// The row that is looked at, as the window's question under two methods.
    void drawingRequested(const orrery::Scenario& question, const QStringList& methods);
    void refused(const orrery::Diagnostic& why);
    void pageWritten(const QString& folder, const QString& problem);

private:
    QWidget* buildHead();
    QWidget* buildChips();
    void take(std::size_t at, Judgement judgement);
    void compare();
    void fillMethodsMenu();
    /// At once, or as soon as the shelf has read what it reads.
    void whenRead(const std::function<void()>& then);
    void turnFacet(const QString& group, const QString& word, bool on);
    void focusOn(int judgement, int column);
    void askRow(std::size_t place);
    void drawRow();
    void showPublished();
    void showChips();
    void showMatrix();
    void showMethods();
    void showMethod(int at);
    void showResiduals();
    void showProgress();
    /// Rows of the shown method that count, and on common rows only those, in the order of the evaluation.
    std::vector<std::size_t> shownPlaces() const;

    ReferenceShelf* shelf_;
    Background* work_;
    Background* writing_;
    std::shared_ptr<FactFinder> facts_ = std::make_shared<FactFinder>();
    std::vector<std::string> only_, results_;  ///< methods and files of results that a judging file names
    bool seen_ = false;                        ///< rows that calibrations were fitted to count as well
    QString name_;                             ///< of the file that was opened
    QString complaint_;                        ///< of a file of results, until the next judging
    std::shared_ptr<const CalibrationSet> calibrations_;
    std::function<QStringList()> choices_;
    ReferenceTablesPtr tables_;
    std::vector<Judgement> judged_;
    std::vector<RowRef> asked_;
    Comparing how_;
    std::optional<Compared> compared_;
    bool judging_ = false, stale_ = false;               ///< methods are being asked; chips were clicked meanwhile
    std::vector<int> pointed_;                           ///< which judgement each point of the plot is
    std::vector<std::size_t> worstRows_, residualRows_;  ///< rows of the shown evaluation, as they are listed and drawn
    int shown_ = -1, focused_ = -1;  ///< of the judgements: whose rows are listed, whose cell of the matrix is ringed

    QLineEdit* where_;
    QSpinBox* most_;
    QPushButton* run_;
    QToolButton* chosen_;
    QPushButton *export_, *save_;
    QCheckBox *common_, *equal_;
    QComboBox *against_, *by_;
    QTabWidget* below_;
    QCheckBox *setUp_, *published_;
    RowDetailView* row_;
    ui::RowChips* chips_;
    ui::MethodMatrixView* matrix_;
    ui::Label* state_;
    ui::AccuracyPlot* plot_;
    ui::ResidualPlot* residuals_;
    ui::CellsTable *methods_, *families_, *worst_;
};

}  // namespace orrery::app
